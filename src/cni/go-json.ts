/**
 * JSON as Go prints it with four spaces of indentation. Multus writes this form, and tools compare it byte by byte.
 * Members keep the order of the object. Like Go, it escapes the characters that are special in HTML.
 */
export function printGoJson(value: unknown): string {
  return JSON.stringify(value, undefined, 4).replace(/[<>&\u2028\u2029]/g, escapeUnit);
}

/** Sorts the keys of every object in a tree of plain values, as Go does when it prints a map. */
export function sortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, child]) => [key, sortedKeys(child)]));
}

function escapeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
