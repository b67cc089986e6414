import { isObject, type JsonObject } from "../kube/client/json-fields.ts";

/** The objects in a list; empty for a value that is not a list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Milliseconds since 1970 for a time of the API server; 0 for anything else. */
export function timeMs(value: unknown): number {
  if (typeof value !== "string") return 0;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? 0 : ms;
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}

/** RFC 3339 with whole seconds, as the API server writes its own times. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
