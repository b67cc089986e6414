/**
 * Keys as Go's encoding/json matches them to the fields of a struct: by Unicode's simple case folding. All fields have
 * ASCII names, so beside their capitals only U+017F (ſ, a long s) and U+212A (K, the Kelvin sign) can stand for a letter.
 */
export function foldKey(key: string): string {
  // The Kelvin sign has k as its lower case, and the long s has itself. `toUpperCase` would make SS of ß and I of ı.
  const lower = key.toLowerCase();
  return lower.includes("\u017f") ? lower.replaceAll("\u017f", "s") : lower;
}

/** Whether Go takes both keys for the same field. */
export function isSameKey(left: string, right: string): boolean {
  // Folding keeps the length, and most pairs differ in it.
  return left === right || (left.length === right.length && foldKey(left) === foldKey(right));
}
