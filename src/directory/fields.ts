import type { Namespace } from "../base/brand.ts";
import { isNamespace, isObjectName } from "./names.ts";

export type FieldPath = readonly string[];
/** Gets each problem of a document, and its place there. */
export type Complain = (path: FieldPath, reason: string) => void;

const int32Max = 2_147_483_647;

/**
 * Reads typed fields of a parsed YAML document. Its objects are Maps, so that a key such as `__proto__` is only a key.
 * A field that is absent or null is undefined. A field of the wrong type is undefined too, and `complain` is called.
 */
export class Fields {
  readonly #document: unknown;
  readonly complain: Complain;

  constructor(document: unknown, complain: Complain) {
    this.#document = document;
    this.complain = complain;
  }

  get isObject(): boolean {
    return this.#document instanceof Map;
  }

  text(path: FieldPath): string | undefined {
    const value = this.#value(path);
    if (value === undefined || typeof value === "string") return value;
    return this.#wrong(path, "a string", value);
  }

  int32(path: FieldPath): number | undefined {
    const value = this.#value(path);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= int32Max) return value;
    return this.#wrong(path, "a 32-bit integer", value);
  }

  /** An object whose values are strings. Any other entry is a problem, named by its key. */
  texts(path: FieldPath): Readonly<Record<string, string>> {
    const value = this.#value(path) ?? new Map();
    const entries: [string, string][] = [];
    if (!(value instanceof Map)) this.#wrong(path, "an object of strings", value);
    else
      for (const [key, item] of value) {
        if (typeof key === "string" && typeof item === "string") entries.push([key, item]);
        else this.#wrong([...path, String(key)], "a string (quote it)", item);
      }
    return Object.freeze(Object.fromEntries(entries));
  }

  /** A required object name. */
  name(path: FieldPath): string | undefined {
    const value = this.#value(path);
    if (typeof value === "string" && isObjectName(value)) return value;
    return this.#wrong(path, "a DNS-1123 name of at most 253 characters", value);
  }

  namespace(path: FieldPath, byDefault: string): Namespace | undefined {
    const value = this.#value(path) ?? byDefault;
    if (typeof value === "string" && isNamespace(value)) return value;
    return this.#wrong(path, "a DNS-1123 label of at most 63 characters", value);
  }

  #value(path: FieldPath): unknown {
    let value: unknown = this.#document;
    for (const [index, key] of path.entries()) {
      if (value === undefined || value === null) return undefined;
      if (!(value instanceof Map)) return this.#wrong(path.slice(0, index), "an object", value);
      value = value.get(key);
    }
    return value ?? undefined;
  }

  #wrong(path: FieldPath, wanted: string, value: unknown): undefined {
    this.complain(
      path,
      `Cannot use a document as ${path.join(".")} must be ${wanted}: current value is ${describe(value)}`,
    );
    return undefined;
  }
}

/** The value seen, short enough for a log line. */
function describe(value: unknown): string {
  if (value === undefined) return "absent";
  if (value instanceof Map) return "an object";
  if (Array.isArray(value)) return "a list";
  return (typeof value === "bigint" ? String(value) : JSON.stringify(value)).slice(0, 80);
}
