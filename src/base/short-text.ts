/**
 * The beginning or the end of a text that is to be kept for long. A plain `slice` of a long text holds on to the whole of
 * it: a thousand short ends of long error messages were several hundred megabytes. These are copies.
 */
export function firstChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : copyOf(text.slice(0, charsMax));
}

export function lastChars(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : copyOf(text.slice(-charsMax));
}

/** Half of a character outside of the basic plane, where the text was cut, becomes U+FFFD. */
function copyOf(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}
