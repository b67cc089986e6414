import { expect, test } from "bun:test";
import { memoryBytes, memoryText } from "./memory-quantity.ts";

for (const [text, bytes] of [
  ["50Mi", 52_428_800],
  ["1Gi", 1_073_741_824],
  ["1.5Gi", 1_610_612_736],
  ["128974848", 128_974_848],
  ["100M", 100_000_000],
  ["1k", 1_000],
  ["", undefined],
  ["-1Mi", undefined],
  ["1e3", undefined],
  ["50MiB", undefined],
  ["100m", undefined],
] as const) {
  test(`memoryBytes reads ${JSON.stringify(text)} as ${bytes}`, () => {
    expect(memoryBytes(text)).toBe(bytes);
  });
}

test("memoryText prints whole Gi, else Mi", () => {
  expect([2 ** 30, 4 * 2 ** 30, 1.5 * 2 ** 30, 52_428_800, 1_000_000].map(memoryText)).toEqual([
    "1Gi",
    "4Gi",
    "1536Mi",
    "50Mi",
    "0Mi",
  ]);
});
