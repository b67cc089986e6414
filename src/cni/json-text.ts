import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { findMember, spellingsOf } from "./find-member.ts";
import { isSameKey } from "./fold-key.ts";
import { checkGrammar, JsonGrammarError, skipArray, skipObject, skipSpace } from "./json-grammar.ts";

/**
 * JSON handled as text. Parsing and printing a plugin's configuration would change integers above 2^53, `1500.0`,
 * duplicate keys and the order of members. So our members are spliced in, and every other byte stays.
 */

/**
 * Kubernetes limits all annotations of an object to the same size. A larger configuration is a mistake or an attack.
 */
export const jsonBytesMax = 256 * 1024;

/** One `"key": value` of an object, by offsets into its text. */
interface Member {
  /** Decoded: `"na\u006de"` is `name`. */
  readonly key: string;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** Checks that bytes or a string from outside are JSON. The error names `what` and the offset. */
export function asJsonText(input: Uint8Array | string, what: string): JsonText {
  const bytes = typeof input === "string" ? Buffer.byteLength(input, "utf8") : input.byteLength;
  if (bytes > jsonBytesMax) {
    throw new LeveeError(
      "decode-failed",
      `Cannot read ${what} as JSON: it may have ${jsonBytesMax} bytes and has ${bytes}`,
    );
  }
  const text = typeof input === "string" ? wellFormed(input, what) : decodeUtf8(input, what);
  try {
    checkGrammar(text);
  } catch (cause) {
    if (!(cause instanceof JsonGrammarError)) throw cause;
    throw new LeveeError("decode-failed", `Cannot read ${what} as JSON: ${cause.message}, at offset ${cause.offset}`, {
      cause,
    });
  }
  return text as JsonText; // the grammar has just been checked
}

/** The members of an object in their order, duplicates kept. */
export function scanObject(text: JsonText): Member[] {
  const start = skipSpace(text, 0);
  if (text[start] !== "{") throw wrongKind(text, "an object");
  const members: Member[] = [];
  skipObject(text, start, 0, (keyStart, keyEnd, valueStart, valueEnd) => {
    members.push({ key: decodeKey(text.slice(keyStart, keyEnd)), keyStart, keyEnd, valueStart, valueEnd });
  });
  return members;
}

/**
 * The value of `key` as text, as Go reads a field of a struct: the case of letters does not matter, and the last of
 * several members counts, unless it is null.
 */
export function memberText(text: JsonText, key: string): JsonText | undefined {
  const [spelling, ...more] = spellingsOf(text, key);
  if (spelling === undefined) return undefined;
  const found = more.length === 0 ? findMember(text, spelling) : "unclear";
  if (typeof found === "object") return valueOf(text, found);
  const values = scanObject(text)
    .filter((member) => isSameKey(member.key, key))
    .map((member) => valueOf(text, member));
  return values.findLast((value) => value !== "null") ?? values.at(-1);
}

/** The text that a member holds; empty when there is no such member, or when it is not a string. */
export function stringMember(text: JsonText, key: string): string {
  const value = memberText(text, key);
  return value !== undefined && jsonKind(value) === "string" ? String(JSON.parse(value)) : "";
}

/** The value of exactly this key as text, as Go reads an entry of a map. The last of several duplicates counts. */
export function exactMember(text: JsonText, key: string): JsonText | undefined {
  const found = findMember(text, key);
  if (found === "absent") return undefined;
  if (found !== "unclear") return valueOf(text, found);
  const member = scanObject(text).findLast((candidate) => candidate.key === key);
  return member === undefined ? undefined : valueOf(text, member);
}

export function valueOf(text: JsonText, member: Pick<Member, "valueStart" | "valueEnd">): JsonText {
  return text.slice(member.valueStart, member.valueEnd) as JsonText; // a value inside checked JSON
}

/**
 * Sets `key` to `value` and leaves every other byte. The last of several copies takes the value and the others are
 * removed, so that no reader can see an old value.
 */
export function setMember(text: JsonText, key: string, value: JsonText): JsonText {
  const found = text[skipSpace(text, 0)] === "{" ? findMember(text, key) : "unclear";
  if (found === "absent") return append(text, key, value);
  if (found !== "unclear" && !hasVariant(found.keys, key)) {
    return `${text.slice(0, found.valueStart)}${value}${text.slice(found.valueEnd)}` as JsonText; // one value for another
  }
  const members = scanObject(text);
  const last = members.findLast((member) => member.key === key);
  if (last === undefined || hasVariantAfter(members, last)) {
    return append(dropMembers(text, members, key), key, value);
  }
  return dropMembers(text, members, key, { kept: last, value });
}

/** Removes every copy of `key` with its comma, in every spelling that Go takes for it. */
export function removeMember(text: JsonText, key: string): JsonText {
  return spellingsOf(text, key).reduce<JsonText>(
    (rest, spelling) => dropMembers(rest, scanObject(rest), spelling),
    text,
  );
}

/** The elements of an array, each as its original text. */
export function arrayElements(text: JsonText): JsonText[] {
  const start = skipSpace(text, 0);
  if (text[start] !== "[") throw wrongKind(text, "an array");
  const elements: JsonText[] = [];
  skipArray(text, start, 0, (from, to) => elements.push(text.slice(from, to) as JsonText)); // inside checked JSON
  return elements;
}

/** An array with `added` after its own elements. */
export function appendElements(array: JsonText, added: readonly JsonText[]): JsonText {
  if (added.length === 0) return array;
  const start = skipSpace(array, 0);
  if (array[start] !== "[") throw wrongKind(array, "an array");
  let lastEnd: number | undefined;
  skipArray(array, start, 0, (_, end) => (lastEnd = end));
  const at = lastEnd ?? start + 1;
  const comma = lastEnd === undefined ? "" : ",";
  return `${array.slice(0, at)}${comma}${added.join(",")}${array.slice(at)}` as JsonText; // JSON by construction
}

export function jsonString(value: string): JsonText {
  return JSON.stringify(value) as JsonText; // a string always has a JSON form
}

/** JSON of a value that Levee made. Do not use it for JSON that arrived as text. */
export function jsonValue(value: unknown): JsonText {
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw new LeveeError("internal", `Cannot print a ${typeof value} as JSON`);
  return text as JsonText; // what JSON.stringify returns is JSON
}

/** An object with these members. */
export function jsonObject(members: Iterable<readonly [string, JsonText]>): JsonText {
  const printed = Array.from(members, ([key, value]) => `${jsonString(key)}:${value}`);
  return `{${printed.join(",")}}` as JsonText; // JSON by construction
}

export function jsonKind(text: JsonText): "object" | "array" | "string" | "number" | "bool" | "null" {
  switch (text[skipSpace(text, 0)]) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "bool";
    case "n":
      return "null";
    default:
      return "number";
  }
}

/**
 * Rebuilds an object without the copies of `key`, except `replace.kept`, which gets a new value. It makes one pass, so
 * that thousands of duplicates do not cost a scan each.
 */
function dropMembers(text: JsonText, members: readonly Member[], key: string, replace?: Replacement): JsonText {
  const [first] = members;
  const final = members.at(-1);
  if (first === undefined || final === undefined) return text;
  const stays = members.map((member) => member.key !== key || member === replace?.kept);
  const lastKept = stays.lastIndexOf(true);
  const pieces = [text.slice(0, first.keyStart)];
  members.forEach((member, index) => {
    if (stays[index] !== true) return;
    const isReplaced = member === replace?.kept;
    pieces.push(
      isReplaced
        ? `${text.slice(member.keyStart, member.valueStart)}${replace.value}`
        : text.slice(member.keyStart, member.valueEnd),
    );
    // A comma and the white space after it belong to the member in front of them.
    if (index < lastKept) pieces.push(text.slice(member.valueEnd, members[index + 1]?.keyStart));
  });
  pieces.push(text.slice(final.valueEnd));
  return pieces.join("") as JsonText; // members left out or replaced whole
}

interface Replacement {
  readonly kept: Member;
  readonly value: JsonText;
}

/** Adds a member at the end. Only white space follows the object's closing brace, so the last brace is that one. */
function append(text: JsonText, key: string, value: JsonText): JsonText {
  const inside = text.slice(0, text.lastIndexOf("}")).trimEnd();
  const isEmpty = inside.length === text.indexOf("{") + 1;
  const at = inside.length;
  const comma = isEmpty ? "" : ",";
  return `${text.slice(0, at)}${comma}${jsonString(key)}:${value}${text.slice(at)}` as JsonText; // one more member
}

/**
 * Go ignores the case of keys and takes the last one, so `"Name"` after `"name"` would override our value. In that case
 * our member goes to the end.
 */
function hasVariantAfter(members: readonly Member[], last: Member): boolean {
  return members.some((member) => member.keyStart > last.keyStart && isSameKey(member.key, last.key));
}

function hasVariant(keys: readonly string[], key: string): boolean {
  return keys.some((other) => other !== key && isSameKey(other, key));
}

function decodeKey(quoted: string): string {
  return quoted.includes("\\") ? String(JSON.parse(quoted)) : quoted.slice(1, -1);
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new LeveeError("decode-failed", `Cannot read ${what} as JSON: it is not UTF-8`, { cause });
  }
}

function wellFormed(text: string, what: string): string {
  if (text.isWellFormed()) return text;
  throw new LeveeError("decode-failed", `Cannot read ${what} as JSON: it has half a surrogate pair`);
}

function wrongKind(text: JsonText, wanted: string): LeveeError {
  const seen = text.trim();
  const shown = seen.length > 60 ? `${seen.slice(0, 60)}…` : seen;
  return new LeveeError("decode-failed", `Cannot use JSON as ${wanted}: current value is ${shown}`);
}
