/**
 * JSON without line breaks and the indents after them. They stand between values only: no string of JSON may have a raw
 * line break. Nothing that means anything is changed.
 */
export function withoutIndents<Text extends string>(json: Text): Text {
  return json.replaceAll(/\n[ \t\r\n]*/gu, "") as Text; // the same JSON, so of the same kind
}
