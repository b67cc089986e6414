import { describe, expect, test } from "bun:test";
import { ageText, momentText, tookText } from "./span.ts";

describe("ageText", () => {
  test.each([
    [0, "0s"],
    [999, "0s"],
    [1000, "1s"],
    [59_999, "59s"],
    [60_000, "1m"],
    [61_000, "1m1s"],
    [599_000, "9m59s"],
    [600_000, "10m"],
    [659_000, "10m"],
    [3_600_000, "1h"],
    [3_660_000, "1h1m"],
    [36_000_000, "10h"],
    [86_400_000, "1d"],
    [90_000_000, "1d1h"],
    [864_000_000, "10d"],
  ])("%d ms is %s", (ms, text) => {
    expect(ageText(ms)).toBe(text);
  });

  test.each([-5000, Number.NaN, Number.NEGATIVE_INFINITY])("a clock that was set back, %d, counts as no time", (ms) => {
    expect(ageText(ms)).toBe("0s");
  });
});

describe("tookText", () => {
  test.each([
    [0.04, "0.0 ms"],
    [9.94, "9.9 ms"],
    [10, "10 ms"],
    [999.4, "999 ms"],
    [1000, "1.0 s"],
    [59_940, "59.9 s"],
    [61_000, "1m1s"],
    [-3, "0.0 ms"],
    [Number.NaN, "?"],
  ])("%d ms is %s", (ms, text) => {
    expect(tookText(ms)).toBe(text);
  });
});

describe("momentText", () => {
  test("is UTC with milliseconds", () => {
    expect(momentText(1_700_000_000_123)).toBe("2023-11-14T22:13:20.123Z");
  });

  test("does not throw for a number that is no moment", () => {
    expect(momentText(Number.NaN)).toBe("unknown time");
    expect(momentText(9e15)).toBe("unknown time");
  });
});
