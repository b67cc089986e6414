import { isDeepStrictEqual } from "node:util";
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Document, type Pair, type Scalar } from "yaml";

/** Manifests have kilobytes; no person reviews a larger one. */
export const fileBytesMax = 262_144;
/** Quantities only: no value that YAML could read differently or that needs quotes. */
const safeValue = /^[0-9]+(?:\.[0-9]+)?[A-Za-z]*$/;

/** One memory limit, or request, in one document of a file. */
export interface FieldOfFile {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  /** The limit unless told. */
  readonly list?: "limits" | "requests";
  readonly to: string;
}

export interface EditedFile {
  readonly bytes: Uint8Array;
  /** The index of the document in the file, starting at 0. */
  readonly document: number;
  /** A JSON pointer into that document. */
  readonly pointer: string;
  readonly from: string;
}

/**
 * Changes only the characters of one value, so comments, order and quotes stay. Anything that makes this unsafe (a
 * template, an alias, a duplicate document) is a problem and never a guess.
 */
export function editMemoryLimit(bytes: Uint8Array, field: FieldOfFile): EditedFile | { readonly problem: string } {
  try {
    return edit(bytes, field);
  } catch (thrown) {
    if (thrown instanceof CannotEdit) return { problem: thrown.message };
    throw thrown;
  }
}

class CannotEdit extends Error {}

function edit(bytes: Uint8Array, field: FieldOfFile): EditedFile {
  if (!safeValue.test(field.to)) throw new CannotEdit(`"${field.to}" is not a quantity`);
  const text = textOf(bytes);
  const documents = parse(text);
  const document = findDocument(documents, field);
  const { scalar, keys } = findLimit(documents[document], field);
  const from = scalar.source ?? "";
  const range = scalar.range;
  if (range === undefined || range === null || from === "")
    throw new CannotEdit("the value has no position in the text");
  const edited = splice(text, [range[0], range[1]], from, field.to);
  const again = parse(edited);
  onlyThisChanged(documents, again, { document, keys, to: field.to });
  return { bytes: new TextEncoder().encode(edited), document, pointer: pointerOf(keys), from };
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > fileBytesMax) throw new CannotEdit(`it has ${bytes.length} bytes, more than ${fileBytesMax}`);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new CannotEdit("it is not UTF-8 text");
  }
}

function parse(text: string): readonly Document.Parsed[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  if (!Array.isArray(documents) || documents.length === 0) throw new CannotEdit("it has no YAML document");
  for (const { errors, warnings } of documents) {
    const [first] = [...errors, ...warnings];
    if (first !== undefined) throw new CannotEdit(`it is not plain YAML: ${first.message.split("\n")[0]}`);
  }
  return documents;
}

function findDocument(documents: readonly Document.Parsed[], { kind, namespace, name }: FieldOfFile): number {
  const found = documents.flatMap((document, index) => {
    const home = document.getIn(["metadata", "namespace"]);
    const isIt =
      document.get("kind") === kind &&
      document.getIn(["metadata", "name"]) === name &&
      // A file may leave out the namespace.
      (home === undefined || home === namespace);
    return isIt ? [index] : [];
  });
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new CannotEdit(`it has ${found.length} documents for ${kind} ${namespace}/${name} instead of one`);
  return only;
}

type Keys = readonly (string | number)[];

/** Never follows an alias, because its value belongs to other places too. */
function findLimit(
  document: Document.Parsed | undefined,
  { container, list = "limits" }: FieldOfFile,
): { scalar: Scalar; keys: Keys } {
  let node: unknown = document?.contents;
  const keys: (string | number)[] = [];
  for (const key of ["spec", "template", "spec", "containers", null, "resources", list, "memory"]) {
    if (isAlias(node)) throw new CannotEdit(`${pointerOf(keys)} is an alias`);
    const step = key === null ? containerOf(node, container) : memberOf(node, key);
    if (step === undefined) throw new CannotEdit(`it has no ${pointerOf(keys)}/${key ?? container}`);
    keys.push(step.key);
    node = step.value;
    if (hasAnchor(node)) throw new CannotEdit(`${pointerOf(keys)} has an anchor, so its value may be used elsewhere`);
  }
  if (!isScalar(node)) throw new CannotEdit(`${pointerOf(keys)} is not a plain value`);
  return { scalar: node, keys };
}

interface Member {
  readonly key: string | number;
  readonly value: unknown;
}

function memberOf(node: unknown, key: string): Member | undefined {
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item: Pair) => isScalar(item.key) && item.key.value === key);
  return pair === undefined ? undefined : { key, value: pair.value };
}

function containerOf(node: unknown, name: string): Member | undefined {
  if (!isSeq(node)) return undefined;
  const index = node.items.findIndex((item) => isMap(item) && item.get("name") === name);
  return index === -1 ? undefined : { key: index, value: node.items[index] };
}

function hasAnchor(node: unknown): boolean {
  return (isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined;
}

/** The range includes quotes; the new value goes between them. */
function splice(text: string, [start, end]: readonly [number, number], from: string, to: string): string {
  const at = text.slice(start, end).indexOf(from);
  if (at === -1) throw new CannotEdit(`the notation of the value cannot be replaced: ${text.slice(start, end)}`);
  return text.slice(0, start + at) + to + text.slice(start + at + from.length);
}

interface Change {
  readonly document: number;
  readonly keys: Keys;
  readonly to: string;
}

/** Parsed again, the file must differ in this one value. */
function onlyThisChanged(before: readonly Document.Parsed[], after: readonly Document.Parsed[], change: Change): void {
  const expected = before.map((document) => document.clone());
  expected[change.document]?.setIn([...change.keys], change.to);
  const isAlike =
    before.length === after.length &&
    expected.every((document, index) => isDeepStrictEqual(document.toJS(), after[index]?.toJS()));
  if (!isAlike) throw new CannotEdit("more than this one value would change");
}

function pointerOf(keys: Keys): string {
  return keys.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
