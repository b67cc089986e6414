/**
 * The beginning or the end of a text, as a copy that may be kept for long. A plain `slice` keeps the whole text in memory:
 * a thousand short ends of long error messages took several hundred megabytes.
 */
export function firstChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : copyOf(text.slice(0, charsMax));
}

export function lastChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : copyOf(text.slice(-charsMax));
}

/** Where the cut splits a character outside of the basic plane, its half becomes U+FFFD. */
function copyOf(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
