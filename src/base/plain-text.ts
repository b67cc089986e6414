/**
 * Text from a plugin must not drive the terminal: a plugin's stderr could otherwise recolour, retitle or overwrite it.
 * Escape sequences are removed as a whole, then every other control and direction-changing character.
 */
const escapeSequence =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b\n]*(?:\u001b\\)?|[ -/]*[0-~])/gu;
const controlCharacter =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu;

/** Keeps line breaks and tabs. */
export function plainText(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(escapeSequence, "").replace(controlCharacter, "");
}

/** For a table cell or a message: line breaks become spaces. */
export function oneLine(text: string): string {
  return plainText(text)
    .replace(/[\n\t ]+/gu, " ")
    .trim();
}

/** Cleans every string inside a value, keys too, and keeps the rest as it is. */
export function plainValue(value: unknown): unknown {
  if (typeof value === "string") return plainText(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [plainText(key), plainValue(inner)]));
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text of anybody as text of a page. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (character) => entities[character] ?? "");
}
