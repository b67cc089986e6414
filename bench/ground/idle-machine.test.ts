import { expect, test } from "bun:test";
import { busyShare, coreTicks } from "./idle-machine.ts";

test("busyShare counts everything but idle and waiting for a disk", () => {
  const before = coreTicks("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3 4\n");
  const now = coreTicks("cpu  110 5 60 850 70 2 2 1 0 0\ncpu0 1 2 3 4\n");
  expect(busyShare(before, now)).toBeCloseTo(0.3, 5);
});

test("busyShare of no time at all is none", () => {
  const ticks = coreTicks("cpu  1 1 1 1 1 1 1 1 0 0\n");
  expect(busyShare(ticks, ticks)).toBe(0);
});
