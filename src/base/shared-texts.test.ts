import { expect, test } from "bun:test";
import { SharedTexts } from "./shared-texts.ts";

test("SharedTexts keeps each text once", () => {
  const texts = new SharedTexts();
  for (const text of ["blue", "green", "blue", ""]) expect(texts.share(text)).toBe(text);
  expect(texts.chars).toBe("bluegreen".length);
});

test("SharedTexts never keeps more than it may, and never a long text", () => {
  const texts = new SharedTexts(800);
  for (let number = 0; number < 1_000; number += 1) {
    expect(texts.share(`namespace-${number}`)).toBe(`namespace-${number}`);
    expect(texts.chars).toBeLessThanOrEqual(800);
  }
  const before = texts.chars;
  expect(texts.share("x".repeat(101))).toHaveLength(101);
  expect(texts.chars).toBe(before);
});

test("SharedTexts bounds the number of short texts", () => {
  const texts = new SharedTexts();
  for (let number = 0; number < 2_001; number += 1) texts.share(String(number));
  expect(texts.chars).toBe("2000".length);
});
