import type { JsonText } from "../base/brand.ts";
import { isSameKey } from "./fold-key.ts";
import { skipSpace, skipValue } from "./json-grammar.ts";

/** A member whose key occurs once, by offsets into the text. */
interface SoleMember {
  readonly valueStart: number;
  readonly valueEnd: number;
  /** All keys of the object. */
  readonly keys: readonly string[];
}

/**
 * Finds a member with the engine's own search and parser, which are many times faster without a JIT than a scan in
 * JavaScript. If the text has no escapes and the quoted key occurs once, the parsed object shows whether that place is
 * the member. For "unclear" the caller scans the text.
 */
export function findMember(text: JsonText, key: string): SoleMember | "absent" | "unclear" {
  if (text.includes("\\")) return "unclear";
  const quoted = `"${key}"`;
  const at = text.indexOf(quoted);
  if (at < 0) return "absent";
  if (text.includes(quoted, at + 1)) return "unclear";
  const object: unknown = JSON.parse(text);
  if (typeof object !== "object" || object === null || Array.isArray(object)) return "unclear";
  if (!Object.hasOwn(object, key)) return "absent";
  const colon = skipSpace(text, at + quoted.length);
  const valueStart = skipSpace(text, colon + 1);
  return { valueStart, valueEnd: skipValue(text, valueStart, 1), keys: Object.keys(object) };
}

/** The keys of the object that Go takes for `key`, each once. Empty for a text that is no object. */
export function spellingsOf(text: JsonText, key: string): readonly string[] {
  const object: unknown = JSON.parse(text);
  if (typeof object !== "object" || object === null || Array.isArray(object)) return [];
  return Object.keys(object).filter((candidate) => isSameKey(candidate, key));
}
