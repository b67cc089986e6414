import type { JsonText } from "../base/brand.ts";
import { isSameKey } from "../cni/fold-key.ts";
import { skipArray, skipObject, skipSpace } from "../cni/json-grammar.ts";

/** A part of a configuration's text, in UTF-16 units. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
}

/** A value of a configuration with its place in the text, so that a finding can point at it. */
export type JsonNode = ObjectNode | ArrayNode | ScalarNode;

export interface ObjectNode extends JsonSpan {
  readonly kind: "object";
  readonly members: readonly JsonMember[];
}

interface ArrayNode extends JsonSpan {
  readonly kind: "array";
  readonly elements: readonly JsonNode[];
}

interface ScalarNode extends JsonSpan {
  readonly kind: "string" | "number" | "bool" | "null";
  /** A number is kept as it is written: Go refuses `1500.0` where it wants an integer. */
  readonly text: string;
}

export interface JsonMember {
  readonly key: string;
  readonly keySpan: JsonSpan;
  readonly value: JsonNode;
}

/** `text` has passed the grammar's check, which also limits its depth. */
export function jsonNodeOf(text: JsonText): JsonNode {
  return nodeAt(text, skipSpace(text, 0), text.trimEnd().length);
}

/** The member that Go reads for a field: the case of letters does not matter, and the last that is not null counts. */
export function memberOf(node: JsonNode | undefined, key: string): JsonMember | undefined {
  if (node?.kind !== "object") return undefined;
  const found = node.members.filter((member) => isSameKey(member.key, key));
  return found.findLast((member) => member.value.kind !== "null");
}

/** The text of a field; undefined if it is missing, empty or no string. */
export function textMember(node: JsonNode | undefined, key: string): string | undefined {
  const value = memberOf(node, key)?.value;
  return value?.kind === "string" && value.text !== "" ? value.text : undefined;
}

export function isTrueMember(node: JsonNode | undefined, key: string): boolean {
  const value = memberOf(node, key)?.value;
  return value?.kind === "bool" && value.text === "true";
}

/** An integer as Go reads it; undefined for anything else. */
export function integerMember(node: JsonNode | undefined, key: string): number | undefined {
  const value = memberOf(node, key)?.value;
  return value?.kind === "number" && /^-?[0-9]+$/u.test(value.text) ? Number(value.text) : undefined;
}

export function elementsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === "array" ? node.elements : [];
}

function nodeAt(text: JsonText, start: number, end: number): JsonNode {
  switch (text[start]) {
    case "{":
      return { kind: "object", start, end, members: membersAt(text, start) };
    case "[":
      return { kind: "array", start, end, elements: elementsAt(text, start) };
    case '"':
      return { kind: "string", start, end, text: String(JSON.parse(text.slice(start, end))) };
    case "t":
    case "f":
      return { kind: "bool", start, end, text: text.slice(start, end) };
    case "n":
      return { kind: "null", start, end, text: "null" };
    default:
      return { kind: "number", start, end, text: text.slice(start, end) };
  }
}

function membersAt(text: JsonText, at: number): readonly JsonMember[] {
  const members: JsonMember[] = [];
  skipObject(text, at, 0, (keyStart, keyEnd, valueStart, valueEnd) => {
    members.push({
      key: String(JSON.parse(text.slice(keyStart, keyEnd))),
      keySpan: { start: keyStart, end: keyEnd },
      value: nodeAt(text, valueStart, valueEnd),
    });
  });
  return members;
}

function elementsAt(text: JsonText, at: number): readonly JsonNode[] {
  const elements: JsonNode[] = [];
  skipArray(text, at, 0, (start, end) => elements.push(nodeAt(text, start, end)));
  return elements;
}
