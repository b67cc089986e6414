import { LeveeError } from "../../base/errors.ts";

/** JSON that Levee wrote itself. Disks and people change files, so every value is checked. */
export type Shape = Readonly<Record<string, unknown>>;

export function parseShape(json: string, what: string): Shape {
  try {
    return asShape(JSON.parse(json) as unknown, what);
  } catch (cause) {
    if (cause instanceof LeveeError) throw cause;
    throw new LeveeError("decode-failed", `Cannot read ${what} as it is not JSON: ${(cause as Error).message}`, {
      cause,
    });
  }
}

export function asShape(value: unknown, what: string): Shape {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Shape;
  throw wrongKind(what, "an object", value);
}

export function shapeAt(shape: Shape, key: string): Shape {
  return asShape(shape[key], key);
}

export function listAt(shape: Shape, key: string): readonly unknown[] {
  const value = shape[key];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw wrongKind(key, "a list", value);
}

export function textAt(shape: Shape, key: string): string {
  return asText(shape[key], key);
}

export function asText(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  throw wrongKind(what, "text", value);
}

export function optionalTextAt(shape: Shape, key: string): string | undefined {
  const value = shape[key];
  return value === undefined || value === null ? undefined : asText(value, key);
}

export function flagAt(shape: Shape, key: string): boolean {
  const value = shape[key];
  if (typeof value === "boolean") return value;
  throw wrongKind(key, "true or false", value);
}

/** A whole number of zero or more that a double holds exactly. */
export function countAt(shape: Shape, key: string): number {
  const value = shape[key];
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw wrongKind(key, "a whole number", value);
}

/** Milliseconds since 1970, with a fraction on a virtual clock. */
export function timeAt(shape: Shape, key: string): number {
  const value = shape[key];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrongKind(key, "a time", value);
}

/** Device and inode numbers are written as text, because a JSON number cannot hold all 64 bits. */
export function bigintAt(shape: Shape, key: string): bigint {
  const value = textAt(shape, key);
  if (/^[0-9]{1,20}$/.test(value)) return BigInt(value);
  throw wrongKind(key, "decimal digits", value);
}

export function oneOfAt<Choice extends string>(shape: Shape, key: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === shape[key]);
  if (found !== undefined) return found;
  throw wrongKind(key, `one of ${choices.join(", ")}`, shape[key]);
}

const shownCharsMax = 40;

function wrongKind(what: string, wanted: string, value: unknown): LeveeError {
  const shown = value === undefined ? "missing" : JSON.stringify(value).slice(0, shownCharsMax);
  return new LeveeError("decode-failed", `Cannot read ${what} as it must be ${wanted}: current value is ${shown}`);
}
