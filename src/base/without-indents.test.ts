import { describe, expect, test } from "bun:test";
import { withoutIndents } from "./without-indents.ts";

describe("withoutIndents", () => {
  test("removes line breaks and indents, and nothing else", () => {
    const text: string =
      '{\n    "a b": "x\\n  y",\r\n\t"n": 1500.0,\n\n    "big": 12345678901234567890, "l": [\n1,\n  2\n]\n}\n';
    expect(withoutIndents(text)).toBe('{"a b": "x\\n  y",\r"n": 1500.0,"big": 12345678901234567890, "l": [1,2]}');
    expect(JSON.parse(withoutIndents(text))).toEqual(JSON.parse(text));
  });

  test("keeps a text of one line as it is", () => {
    const text: string = '{"a": [1,  2] }';
    expect(withoutIndents(text)).toBe(text);
  });

  test("takes linear time for endless blanks", () => {
    const blanks = `[${"\n ".repeat(100_000)}${" ".repeat(50_000)}1]`;
    expect(withoutIndents(blanks)).toBe("[1]");
  });
});
