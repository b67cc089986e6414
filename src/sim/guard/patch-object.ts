import { isObject, objectOf, type JsonObject } from "../../kube/client/json-fields.ts";

/** RFC 7396: null takes a field away, an object goes deeper, and everything else replaces. */
export function mergedInto(old: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = { ...objectOf(old) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergedInto(merged[key], value);
  }
  return merged;
}

/** One operation of RFC 6902, as far as the guard sends them. */
interface JsonOperation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

/** Undefined when a test does not hold, or a place is missing. */
export function jsonPatched(old: JsonObject, operations: readonly JsonOperation[]): JsonObject | undefined {
  const patched = structuredClone(old) as Record<string, unknown>;
  for (const { op, path, value } of operations) {
    const keys = path.slice(1).split("/").map(unescaped);
    const last = keys.pop() ?? "";
    const place = keys.reduce<unknown>((at, key) => fieldOf(at, key), patched);
    if (typeof place !== "object" || place === null) return undefined;
    const now = fieldOf(place, last);
    if (op === "test" && JSON.stringify(now) !== JSON.stringify(value)) return undefined;
    if (op === "replace" && now === undefined) return undefined;
    if (op !== "test") (place as Record<string, unknown>)[last] = value; // an array takes its index as well
  }
  return patched;
}

function unescaped(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
}
