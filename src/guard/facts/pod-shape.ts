import { createHash } from "node:crypto";
import { firstChars } from "../../base/short-text.ts";
import { objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { objectsOf } from "../json-values.ts";

/** 64 bits are enough to tell the shapes of one namespace apart. */
const hashChars = 16;
/** The API server allows 253. */
const generateNameCharsMax = 253;
/** Enough for a person to recognise them; the hashes tell them apart. */
const labelCharsMax = 80;
const imageCharsMax = 100;

/**
 * What pods of one template have in common: the prefix of their generated names (or else their label keys) and how their
 * spec is built. Label values do not count: an operator may give each pod its own session or user. Pods that people
 * create by hand have different specs. People read it too, so it names the image.
 */
export function podShape(metadata: JsonObject, spec: JsonObject): string {
  const generateName = firstChars(textOf(metadata["generateName"]), generateNameCharsMax);
  const keys = Object.keys(objectOf(metadata["labels"])).toSorted();
  const family = generateName === "" ? labelsText(keys) : generateName;
  const image = firstChars(textOf(objectsOf(spec["containers"])[0]?.["image"]), imageCharsMax);
  const isBare = generateName === "" && keys.length === 0;
  const specHash = podSpecHash(spec, isBare ? programOf : () => "");
  return `${family}${image === "" ? "" : ` image ${image}`} spec ${specHash}`;
}

/** Of many labels the first, and a hash of all. */
function labelsText(keys: readonly string[]): string {
  const text = keys.join(", ");
  if (text === "") return "no labels";
  return `labels ${text.length <= labelCharsMax ? text : `${firstChars(text, labelCharsMax)}… ${hash(keys)}`}`;
}

type CommandText = (container: JsonObject) => string;

/**
 * Covers the fields that a template fixes: images, sizes, mounts, kinds of volumes. It leaves out the fields that differ
 * between pods of one template: node, values of variables, commands, arguments and generated names.
 */
function podSpecHash(spec: JsonObject, commandText: CommandText): string {
  const linesOf = (kind: string, containers: unknown): readonly string[] =>
    objectsOf(containers).flatMap((container) => containerLines(kind, container, commandText(container)));
  return hash([
    `account ${textOf(spec["serviceAccountName"])}`,
    `priority ${textOf(spec["priorityClassName"])}`,
    `hostNetwork ${spec["hostNetwork"] === true}`,
    ...linesOf("init", spec["initContainers"]),
    ...linesOf("container", spec["containers"]),
    ...objectsOf(spec["volumes"]).map(volumeLine),
  ]);
}

/** Bare pods have no mark of a template, so their programs must be the same: people try things out in such pods. */
function programOf({ command }: JsonObject): string {
  return Array.isArray(command) ? textOf(command[0]) : "";
}

function containerLines(kind: string, container: JsonObject, command: string): readonly string[] {
  const resources = objectOf(container["resources"]);
  return [
    `${kind} ${textOf(container["name"])} ${textOf(container["image"])}`,
    `command ${JSON.stringify(command)}`,
    `limits ${memberLines(resources["limits"]).join(" ")}`,
    `requests ${memberLines(resources["requests"]).join(" ")}`,
    `variables ${namesOf(container["env"]).join(" ")}`,
    `mounts ${objectsOf(container["volumeMounts"])
      .map((mount) => textOf(mount["mountPath"]))
      .join(" ")}`,
  ];
}

/** Only the kind: each pod has its own names of claims and generated tokens. */
function volumeLine(volume: JsonObject): string {
  return `volume ${Object.keys(volume)
    .filter((key) => key !== "name")
    .join(" ")}`;
}

function memberLines(value: unknown): readonly string[] {
  return Object.entries(objectOf(value))
    .map(([key, member]) => `${JSON.stringify(key)}=${JSON.stringify(member)}`)
    .toSorted();
}

function namesOf(value: unknown): readonly string[] {
  return objectsOf(value).map((entry) => textOf(entry["name"]));
}

function hash(lines: readonly string[]): string {
  return createHash("sha256").update(lines.join("\n"), "utf8").digest("hex").slice(0, hashChars);
}
