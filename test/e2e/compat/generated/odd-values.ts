/** Values that two readers of JSON or of names may take differently. As texts, since a parsed value has lost its spelling. */

/** Blanks to Go, to JavaScript, to both or to neither. */
export const blanks = [" ", "\t", "\n", "  ", "\u00a0", "\u0085", "\u2003", "\ufeff", "\u200b", "\u3000"] as const;

export const plainPorts = ["80", "8080", "1", "65535", "443"] as const;
export const oddNumbers = [
  "0",
  "-1",
  "-0",
  "80.0",
  "8e1",
  "8E+1",
  "80.5",
  "65536",
  "99999999999",
  "9223372036854775808",
  "1e400",
  "080",
  '"80"',
  "null",
  "true",
  "[80]",
  "{}",
] as const;

export const oddStrings = [
  '""',
  "null",
  "5",
  "true",
  "[]",
  "{}",
  '"a b"',
  '"a/b"',
  '"A"',
  '"\\u0061"',
  '"\\ud800"',
  '"\u00e9"',
  '"<&>"',
] as const;

export const plainInterfaces = ["if0", "d0", "net7", "fifteen_chars_x"] as const;
export const oddInterfaces = [
  "",
  "eth0",
  "net1",
  "lo",
  "all",
  "default",
  ".",
  "..",
  "a b",
  "a/b",
  "a:b",
  "sixteen_chars_xx",
  "\u00e9",
  "IF0",
] as const;

/** Writes some letters of a key the other way, as Go's reader does not mind. */
export function otherCase(key: string, seed: number): string {
  return [key.toUpperCase(), key.charAt(0).toUpperCase() + key.slice(1), key.toLowerCase()][seed % 3] ?? key;
}

/** An object of texts: `{"key":text}`. */
export function jsonObject(members: readonly (readonly [string, string])[]): string {
  return `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

/** The same JSON with blanks between its tokens, which both must skip. */
export function spread(json: string): string {
  return JSON.stringify(JSON.parse(json), undefined, "\t").replaceAll("\n", "\r\n");
}
