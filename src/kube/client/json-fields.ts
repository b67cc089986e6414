/** Objects of the API server come from unknown versions and webhooks, so every field is checked before it is used. */
export type JsonObject = Readonly<Record<string, unknown>>;

const nothing: JsonObject = {};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : nothing;
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
