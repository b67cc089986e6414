import { describe, expect, test } from "bun:test";
import { oneLine, plainText, plainValue } from "./plain-text.ts";

describe("plainText", () => {
  test("keeps ordinary text, line breaks and tabs", () => {
    expect(plainText("bridge: ok\n\tüñî 名前 🙂")).toBe("bridge: ok\n\tüñî 名前 🙂");
  });

  test.each([
    ["colour", "\u001b[31mred\u001b[0m", "red"],
    ["cursor movement", "a\u001b[2J\u001b[1;1Hb", "ab"],
    ["a window title ended by BEL", "a\u001b]0;owned\u0007b", "ab"],
    ["a window title ended by ST", "a\u001b]0;owned\u001b\\b", "ab"],
    ["a device control string", "a\u001bPq#0\u001b\\b", "ab"],
    ["a character set switch", "a\u001b(0b", "ab"],
    ["a reset", "a\u001bcb", "ab"],
    ["a lone escape", "a\u001b", "a"],
    ["eight-bit control sequences", "a\u009b31mb", "a31mb"],
    ["carriage returns that overwrite", "good\rbad", "goodbad"],
    ["Windows line ends", "a\r\nb", "a\nb"],
    ["backspaces and bells", "ab\u0008\u0007c", "abc"],
    ["NUL and DEL", "a\u0000b\u007fc", "abc"],
    ["direction overrides", "a\u202eb\u2066c\u200fd", "abcd"],
    ["line separators that some terminals break at", "a\u2028b\u2029c", "abc"],
  ])("removes %s", (_what, dirty, clean) => {
    expect(plainText(dirty)).toBe(clean);
  });

  test("an unfinished title hides the rest of its line and no more", () => {
    expect(plainText("a\u001b]0;unfinished\nsecond line")).toBe("a\nsecond line");
    expect(plainText("a\u001bPunfinished\nsecond line")).toBe("a\nsecond line");
  });
});

describe("oneLine", () => {
  test("turns line breaks, tabs and runs of blanks into one blank", () => {
    expect(oneLine("  a\n\n b\t\tc  ")).toBe("a b c");
  });

  test("is empty for text of control characters only", () => {
    expect(oneLine("\u001b[0m\u0000")).toBe("");
  });
});

describe("plainValue", () => {
  test("cleans strings at every depth, keys too, and leaves the rest", () => {
    const dirty = { "a\u001b[1m": ["x\u0007", { b: "\u001b[31mr" }], "n": 1, "t": true, "z": null };
    expect(plainValue(dirty)).toEqual({ a: ["x", { b: "r" }], n: 1, t: true, z: null });
  });
});
