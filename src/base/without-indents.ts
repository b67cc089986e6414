/**
 * Removes line breaks and the indents after them from JSON. Its meaning stays: a string in JSON cannot have a raw line
 * break.
 */
export function withoutIndents<Text extends string>(json: Text): Text {
  return json.replaceAll(/\n[ \t\r\n]*/gu, "") as Text; // the same JSON, so of the same kind
}
