import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Pair, type Scalar } from "yaml";
import type { FieldEdit } from "../decision/step.ts";
import { GitProblem } from "./git-problem.ts";

/**
 * Applies a plan's edits to a file: replaces the characters of the value at each pointer of one document and nothing else.
 * The caller compares the hash with the approved bytes.
 */
export function applyEdits(bytes: Uint8Array, document: number, edits: readonly FieldEdit[]): Uint8Array {
  let text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  for (const edit of edits) text = applied(text, document, edit);
  return new TextEncoder().encode(text);
}

function applied(text: string, index: number, { pointer, from, to }: FieldEdit): string {
  const scalar = valueAt(text, index, pointer);
  const { range, source } = scalar;
  if (range === undefined || range === null || source !== from) throw notThere(pointer, from);
  const at = text.slice(range[0], range[1]).indexOf(from);
  if (at === -1) throw notThere(pointer, from);
  const start = range[0] + at;
  return text.slice(0, start) + to + text.slice(start + from.length);
}

function valueAt(text: string, index: number, pointer: string): Scalar {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  let node: unknown = Array.isArray(documents) ? documents[index]?.contents : undefined;
  for (const key of pointer.split("/").slice(1).map(unescaped)) {
    if (isAlias(node)) throw notThere(pointer, key);
    node = isSeq(node) ? node.items[Number(key)] : memberOf(node, key);
  }
  if (!isScalar(node)) throw notThere(pointer, "a value");
  return node;
}

function memberOf(node: unknown, key: string): unknown {
  if (!isMap(node)) return undefined;
  return node.items.find((item: Pair) => isScalar(item.key) && item.key.value === key)?.value;
}

function unescaped(key: string): string {
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
}

function notThere(pointer: string, what: string): GitProblem {
  return new GitProblem("content", `the file does not have ${what} at ${pointer}`);
}
