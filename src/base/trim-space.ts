/** Go's unicode.IsSpace. `String.trim` differs: it takes U+FEFF for a space and leaves U+0085. */
const spacePattern = /\p{White_Space}/u;

/** Trims as Go's strings.TrimSpace does, because users write the same annotations and settings for Multus. */
export function trimSpace(text: string): string {
  let start = 0;
  let end = text.length;
  // A pattern for the whole text would need quadratic time for 256 KiB of blanks.
  while (start < end && spacePattern.test(text.charAt(start))) start += 1;
  while (end > start && spacePattern.test(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
