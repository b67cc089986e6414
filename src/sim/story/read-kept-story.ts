import { LeveeError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../kube/client/json-fields.ts";
import { faultKinds, type Story } from "./story.ts";

/** Whether a kept story is one of guards: it says so. */
export function isKeptGuardStory(text: string): boolean {
  return parseStory(text)["kind"] === "guard";
}

/** Reads a story of a node that was kept in a file. Throws an error with the field, its value and the remedy. */
export function readKeptStory(text: string): Story {
  const story = parseStory(text);
  requireTime(story, "seed");
  requireTime(story, "calmAtMs");
  for (const [index, pod] of storyList(story, "pods").entries()) {
    const at = `pods[${index}]`;
    for (const key of ["name", "namespace"])
      if (typeof pod[key] !== "string") throw wrongField(`${at}.${key}`, pod[key], "a text");
    if (!Array.isArray(pod["networks"])) throw wrongField(`${at}.networks`, pod["networks"], "a list of networks");
    requireTime(pod, "atMs", at);
    if (pod["deleteAtMs"] !== undefined) requireTime(pod, "deleteAtMs", at);
  }
  for (const [index, fault] of storyList(story, "faults").entries()) {
    const at = `faults[${index}]`;
    const { kind } = fault;
    if (typeof kind !== "string" || !faultKinds.has(kind))
      throw wrongField(`${at}.kind`, kind, `one of ${[...faultKinds].join(", ")}`);
    requireTime(fault, "atMs", at);
    if (fault["forMs"] !== undefined) requireTime(fault, "forMs", at);
  }
  requireMachine(story["machine"]);
  // Every field that a run needs has been looked at.
  return story as unknown as Story;
}

function requireMachine(machine: unknown): void {
  if (machine === undefined) return;
  if (!isObject(machine)) throw wrongField("machine", machine, "an object");
  for (const key of ["limitMib", "waitingMax"]) requireTime(machine, key, "machine");
  if (machine["cpuMillis"] !== undefined) requireTime(machine, "cpuMillis", "machine");
}

/** The object of a kept story. */
export function parseStory(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new LeveeError("config-invalid", `Cannot read the story as it must be JSON: ${String(cause)}`, { cause });
  }
  if (!isObject(value)) throw wrongField("the whole", value, "an object with seed, pods, faults and calmAtMs");
  return value;
}

export function storyList(story: JsonObject, key: string): readonly JsonObject[] {
  const list = story[key];
  if (Array.isArray(list) && list.every(isObject)) return list;
  throw wrongField(key, list, "a list of objects");
}

export function requireTime(object: JsonObject, key: string, at = ""): void {
  const value = object[key];
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw wrongField(at === "" ? key : `${at}.${key}`, value, "a number that is not negative");
}

export function wrongField(field: string, value: unknown, remedy: string): LeveeError {
  const seen = JSON.stringify(value) ?? "nothing";
  return new LeveeError(
    "config-invalid",
    `Cannot read the story as ${field} must be ${remedy}: current value is ${seen}`,
  );
}
