import { describe, expect, test } from "bun:test";
import { trimSpace } from "./trim-space.ts";

/** What Go's unicode.IsSpace calls a space. */
const goSpaces = [
  ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680],
  ...Array.from({ length: 11 }, (_, index) => 0x2000 + index),
  ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
];

describe("trimSpace", () => {
  test("takes away what Go's strings.TrimSpace takes away, and nothing else", () => {
    const trimmed = Array.from({ length: 0x1_0000 }, (_, code) => code).filter(
      (code) => trimSpace(String.fromCharCode(code)) === "",
    );
    expect(trimmed).toEqual(goSpaces);
  });

  test("keeps the spaces inside, and trims both ends", () => {
    expect(trimSpace("\u0085 a\u00a0b \u3000")).toBe("a\u00a0b");
    expect(trimSpace("\ufeffa")).toBe("\ufeffa");
    expect(trimSpace("")).toBe("");
    expect(trimSpace(" \n ")).toBe("");
  });

  test("needs linear time for a text of blanks", () => {
    const text = `a${" ".repeat(256 * 1024)}b`;
    expect(trimSpace(text)).toBe(text);
  });
});
