import { LeveeError } from "../base/errors.ts";
import { isSameKey } from "./fold-key.ts";
import { jsonValue } from "./json-text.ts";

/**
 * Reads typed values out of parsed JSON from outside. A wrong type is an error that names the place
 * (`ips[0].address`) and the value. As in Go's decoder, `null` counts as absent, the case of keys does not matter, and
 * the last of several counts.
 */
export class JsonReader {
  readonly #value: Readonly<Record<string, unknown>>;
  readonly #keys: readonly string[];
  readonly #what: string;
  readonly #path: string;

  private constructor(value: Readonly<Record<string, unknown>>, what: string, path: string) {
    this.#value = value;
    this.#keys = Object.keys(value);
    this.#what = what;
    this.#path = path;
  }

  /** `what` names the document in errors: "the result of bridge". */
  static of(value: unknown, what: string): JsonReader {
    if (!isRecord(value)) throw mismatch(what, "it", "an object", value);
    return new JsonReader(value, what, "");
  }

  has(key: string): boolean {
    return this.#get(key) !== undefined;
  }

  string(key: string): string | undefined {
    const value = this.#get(key);
    if (value === undefined || typeof value === "string") return value;
    throw this.#mismatch(key, "a string", value);
  }

  integer(key: string): number | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    throw this.#mismatch(key, "an integer", value);
  }

  strings(key: string): string[] | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
    throw this.#mismatch(key, "an array of strings", value);
  }

  object(key: string): JsonReader | undefined {
    const value = this.#get(key);
    if (value === undefined) return undefined;
    if (!isRecord(value)) throw this.#mismatch(key, "an object", value);
    return new JsonReader(value, this.#what, this.#place(key));
  }

  objects(key: string): JsonReader[] {
    const value = this.#get(key);
    if (value === undefined) return [];
    if (!Array.isArray(value)) throw this.#mismatch(key, "an array", value);
    return value.map((item: unknown, index) => {
      const path = `${this.#place(key)}[${index}]`;
      if (!isRecord(item)) throw mismatch(this.#what, path, "an object", item);
      return new JsonReader(item, this.#what, path);
    });
  }

  /** The string under `key`, converted by `parse`, which returns undefined for an invalid string. */
  parsed<Parsed>(key: string, wanted: string, parse: (text: string) => Parsed | undefined): Parsed | undefined {
    const text = this.string(key);
    if (text === undefined || text === "") return undefined;
    const value = parse(text);
    if (value === undefined) throw this.#mismatch(key, wanted, text);
    return value;
  }

  missing(key: string, wanted: string): LeveeError {
    return this.#mismatch(key, wanted, this.#get(key));
  }

  #get(key: string): unknown {
    let found: unknown;
    for (const candidate of this.#keys) {
      // Every result comes by here, and without a JIT the comparison of lengths costs less than a call.
      if (candidate.length !== key.length || !isSameKey(candidate, key)) continue;
      found = this.#value[candidate] ?? found;
    }
    return found;
  }

  #place(key: string): string {
    return this.#path === "" ? key : `${this.#path}.${key}`;
  }

  #mismatch(key: string, wanted: string, value: unknown): LeveeError {
    return mismatch(this.#what, this.#place(key), wanted, value);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function mismatch(what: string, place: string, wanted: string, value: unknown): LeveeError {
  const text = value === undefined ? "missing" : jsonValue(value);
  const seen = text.length > 120 ? `${text.slice(0, 120)}…` : text;
  return new LeveeError("decode-failed", `Cannot read ${what}: ${place} must be ${wanted}: current value is ${seen}`);
}
