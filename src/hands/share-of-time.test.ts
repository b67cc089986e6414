import { expect, test } from "bun:test";
import { shareMs } from "./share-of-time.ts";

test.each([
  [25_000, 0, 25_000],
  [25_000, 1, 20_000],
  [5_000, 0, 5_000],
  [25_000, 4, 5_000],
  [8_000, 1, 4_000],
  [25_000, 24, 1_000],
])("shareMs of %d ms with %d runs to come is %d", (leftMs, after, share) => {
  expect(shareMs(leftMs, after)).toBe(share);
});

test("shareMs leaves time for every run when each one takes its whole share", () => {
  let leftMs = 8_000;
  for (let after = 9; after >= 0; after -= 1) {
    const share = shareMs(leftMs, after);
    expect(share).toBeGreaterThanOrEqual(800 - 1e-6);
    leftMs -= share;
  }
  expect(leftMs).toBeCloseTo(0);
});

test("shareMs of no time left is no time", () => {
  expect(shareMs(-10, 3)).toBeLessThan(0);
});
