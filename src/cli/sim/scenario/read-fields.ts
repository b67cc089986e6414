import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair, type YAMLMap } from "yaml";
import { CommandFailure } from "../../failure.ts";
import { parseBytes, parseCount, parseCpu, parseSpan } from "../../storm/quantity.ts";
import { scenarioExample, type Field, type FieldTable } from "./scenario-fields.ts";
import { namePattern } from "./scenario-schema.ts";

/** What is wrong at one place of the file. */
export interface FieldProblem {
  readonly line: number;
  readonly text: string;
}

/** A value that has been read. Its shape is that of the table of fields. */
export type FieldValue = string | number | boolean | readonly FieldValue[] | FieldValues;
export interface FieldValues {
  readonly [key: string]: FieldValue;
}

/** Reads a document by the table of fields, and collects everything that is wrong. */
export class FieldReader {
  readonly problems: FieldProblem[] = [];
  /** Where each value stands. */
  readonly lines = new Map<string, number>();
  readonly #seen = new Map<string, string>();
  readonly #counter: LineCounter;

  constructor(counter: LineCounter) {
    this.#counter = counter;
  }

  object(node: unknown, fields: FieldTable, place: string): FieldValues {
    if (!isMap(node)) {
      this.problem(node, place, "an object", place === "" ? scenarioExample : "{}");
      return {};
    }
    const found = new Map<string, FieldValue>();
    for (const pair of node.items) this.#pair(pair, { fields, place, found });
    for (const key of fields.required)
      // One with a wrong value has been named.
      if (!this.lines.has(`${place}${key}`)) this.#missing(node, `${place}${key}`, fields.known[key]);
    return Object.fromEntries(found);
  }

  /** A problem that only shows when several fields are seen together. */
  also(place: string, text: string): void {
    this.problems.push({ line: this.lines.get(place) ?? 1, text: `${place} ${text}` });
  }

  /** What a field holds, as the file has it. */
  seen(place: string): string {
    return this.#seen.get(place) ?? "empty";
  }

  problem(node: unknown, place: string, wanted: string, example: string): void {
    const text = `${place === "" ? "the file" : place.replace(/\.$/u, "")} is ${seenText(node)}: it must be ${wanted}, such as ${example}`;
    this.problems.push({ line: this.#lineOf(node), text });
  }

  #pair(
    pair: Pair,
    { fields, place, found }: { fields: FieldTable; place: string; found: Map<string, FieldValue> },
  ): void {
    const key = isScalar(pair.key) ? String(pair.key.value) : "";
    const path = `${place}${key}`;
    const field = Object.hasOwn(fields.known, key) ? fields.known[key] : undefined;
    if (field === undefined) {
      const known = Object.keys(fields.known).join(", ");
      const text = `${path} is ${seenText(pair.value)}, and is not a field: the fields here are ${known}`;
      this.problems.push({ line: this.#lineOf(pair.key), text });
      return;
    }
    if (found.has(key)) {
      const text = `${path} is ${seenText(pair.value)}, and is there twice: remove one`;
      this.problems.push({ line: this.#lineOf(pair.key), text });
    }
    this.lines.set(path, this.#lineOf(pair.key));
    this.#seen.set(path, seenText(pair.value));
    const value = this.#value(pair.value, field, path);
    if (value !== undefined) found.set(key, value);
  }

  #value(node: unknown, field: Field, path: string): FieldValue | undefined {
    if (field.is === "object") return this.object(node, field.fields, `${path}.`);
    if (field.is === "list" || field.is === "names") return this.#list(node, field, path);
    const value = isScalar(node) ? node.value : undefined;
    const read = scalarOf(value, field, path);
    if (read !== undefined) return read;
    this.problem(node, path, wantedText(field), field.example);
    return undefined;
  }

  #list(
    node: unknown,
    field: Extract<Field, { is: "list" | "names" }>,
    path: string,
  ): readonly FieldValue[] | undefined {
    if (!isSeq(node) || node.items.length === 0) {
      this.problem(node, path, "a list", field.example);
      return undefined;
    }
    const name: Field = { is: "name", says: "", example: field.example };
    return node.items.flatMap((item, at) => {
      const place = `${path}[${at}]`;
      this.lines.set(place, this.#lineOf(item));
      const value =
        field.is === "names" ? this.#value(item, name, place) : this.object(item, field.fields, `${place}.`);
      return value === undefined ? [] : [value];
    });
  }

  #missing(node: YAMLMap, path: string, field: Field | undefined): void {
    const text = `${path} is missing: add it, such as ${field?.example ?? ""}`;
    this.problems.push({ line: this.#lineOf(node), text });
  }

  #lineOf(node: unknown): number {
    const [start = 0] = (node as Node | undefined)?.range ?? [];
    return Math.max(1, this.#counter.linePos(start).line);
  }
}

/** It ends in a terminal. */
const textPattern = /^\P{Cc}{1,200}$/u;

/** Undefined for a value that does not fit. */
function scalarOf(value: unknown, field: Field, path: string): FieldValue | undefined {
  if (field.is === "flag") return typeof value === "boolean" ? value : undefined;
  if (field.is === "count") return fits(() => parseCount(path, String(value), { min: field.min, max: field.max }));
  if (field.is === "choice") return field.of.find((word) => word === value);
  const isNumeric = field.is === "cpu" || field.is === "bytes";
  const text = isNumeric && typeof value === "number" ? String(value) : value;
  return typeof text === "string" && text !== "" ? wordOf(text, field.is, path) : undefined;
}

function wordOf(text: string, is: Field["is"], path: string): FieldValue | undefined {
  switch (is) {
    case "span":
      return fits(() => parseSpan(path, text));
    case "bytes":
      return fits(() => parseBytes(path, text));
    case "cpu":
      return fits(() => parseCpu(path, text));
    case "name":
      return new RegExp(namePattern, "u").test(text) ? text : undefined;
    default:
      return textPattern.test(text) ? text : undefined;
  }
}

/** The command line's own readers refuse by throwing. */
function fits<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof CommandFailure) return undefined;
    throw thrown;
  }
}

function wantedText(field: Field): string {
  switch (field.is) {
    case "count":
      return `a whole number from ${field.min} to ${field.max}`;
    case "choice":
      return `one of ${field.of.join(", ")}`;
    case "flag":
      return "true or false";
    case "span":
      return "a time with its unit, ms, s, m or h";
    case "bytes":
      return "a number of bytes, or one with Ki, Mi or Gi";
    case "cpu":
      return "a number of cores, or thousandths of one with m";
    case "name":
      return "a name of small letters, digits and -";
    default:
      return "one line of at most 200 characters";
  }
}

const seenMax = 60;

function seenText(node: unknown): string {
  if (isAlias(node)) return `the alias *${node.source}`.slice(0, seenMax);
  if (isMap(node)) return "an object";
  if (isSeq(node)) return node.items.length === 0 ? "an empty list" : "a list";
  const value = isScalar(node) ? node.value : undefined;
  if (value === undefined || value === null) return "empty";
  // JSON has no words for these.
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return JSON.stringify(value).slice(0, seenMax);
}
