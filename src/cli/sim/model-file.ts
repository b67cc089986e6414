import type { MachineModel } from "../../sim/machine/machine-model.ts";
import { type CommandFailure, usageFailure } from "../failure.ts";
import { textOfFile } from "./text-of-file.ts";

/** Numbers that a model may hold: more than none, and less than anybody measures. */
const numberMax = 1_000_000;

/** The model in a file of `levee sim calibrate`, or the one that comes with the program. */
export async function readModel(path: string | undefined): Promise<MachineModel> {
  const { defaultModel } = await import("../../sim/machine/default-model.ts");
  if (path === undefined) return defaultModel;
  const found = parsed(path, await textOfFile(path, "model", "levee sim calibrate --write model.json makes one"));
  const read = (template: Readonly<Record<string, unknown>>, value: unknown, place: string): unknown => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw wrong(path, place, value, "an object");
    const known = new Map<string, unknown>(Object.entries(value));
    for (const key of known.keys())
      if (!(key in template))
        throw wrong(path, `${place}${key}`, known.get(key), "left out: there is no such constant");
    return Object.fromEntries<unknown>(
      Object.entries(template).map(([key, usual]) => {
        const own = known.get(key);
        if (typeof usual === "object" && usual !== null) return [key, read({ ...usual }, own ?? {}, `${place}${key}.`)];
        if (own === undefined) return [key, usual];
        if (typeof own === "number" && own >= 0 && own <= numberMax) return [key, own];
        throw wrong(path, `${place}${key}`, own, `a number from 0 to ${numberMax}`);
      }),
    );
  };
  // Every key has been compared with the model's own.
  const model = read({ ...defaultModel }, found, "") as MachineModel;
  const { cores, multus } = model;
  const counts = { cores, "multus.threads": multus.threads };
  for (const [key, count] of Object.entries(counts)) if (count < 1) throw wrong(path, key, count, "at least 1");
  return model;
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw usageFailure(
      `Cannot use the model ${path}: it is not JSON (${cause instanceof Error ? cause.message : String(cause)})`,
      "levee sim calibrate --write model.json",
    );
  }
}

function wrong(path: string, key: string, value: unknown, wanted: string): CommandFailure {
  return usageFailure(
    `Cannot use the model ${path}: ${key} must be ${wanted}: current value is ${JSON.stringify(value)}`,
    "levee sim calibrate --write model.json",
  );
}
