import { expect, test } from "bun:test";
import { nodeRow, nodeVerdicts } from "./node-table.ts";
import type { StormOutcome } from "./storm.ts";

const two = 2;

function run(lastMs: number, facts: Partial<StormOutcome> = {}): StormOutcome {
  const criticalRunningMs = [1, 2, 3, 4, 5, 8_000];
  return {
    runningMs: [1_000, lastMs],
    readyMs: [],
    criticalRunningMs,
    criticalReadyMs: [],
    failedSandboxes: 0,
    restarts: 0,
    pressure: { cpuSome: 0, memoryFull: 0, ioFull: 0 },
    story: "",
    deletedMs: 30_000,
    left: [],
    ...facts,
  };
}

test("nodeRow shows the median, and the spread where runs differ by more than a tenth", () => {
  expect(nodeRow("x", [run(40_000), run(42_000), run(41_000)], two)).toEqual([
    "x",
    "2",
    "41.00 s",
    "8.00 s",
    "0",
    "–",
    "0",
    "–",
    "–",
    "–",
    "30.00 s",
    "0",
  ]);
  const never = run(9_000, { runningMs: [1_000], left: undefined as never });
  const row = nodeRow("x", [run(40_000), never], two);
  expect([row[1], row[2], row[10]]).toEqual(["1 to 2", "40.00 s to never", "–"]);
});

const primary = [run(40_000), run(50_000), run(40_000)];
const levee = [run(40_000), run(45_000), run(32_000)];

test("nodeVerdicts compares each run with the one of the primary before it, and takes the median", () => {
  expect(nodeVerdicts({ primary, levee }, two)[0]).toEqual({
    promise:
      "all Running and no failed sandbox in each of 3 runs; their median is at most 0.95 × the primary CNI alone",
    seen: "0.9 × (40.00 s against 40.00 s, 45.00 s against 50.00 s, 32.00 s against 40.00 s), failed sandboxes: 0, 0, 0",
    holds: true,
  });
  expect(nodeVerdicts({ primary: [...primary].fill(run(36_000)), levee }, two)[0]?.holds).toBe(false);
});

test("nodeVerdicts does not forgive one run a failed sandbox or a pod that never ran", () => {
  const failing = levee.with(1, run(45_000, { failedSandboxes: 3 }));
  expect(nodeVerdicts({ primary, levee: failing }, two)[0]).toMatchObject({
    seen: expect.stringContaining("failed sandboxes: 0, 3, 0") as string,
    holds: false,
  });
  const lacking = levee.with(0, run(40_000, { runningMs: [1_000] }));
  expect(nodeVerdicts({ primary, levee: lacking }, two)[0]?.holds).toBe(false);
});
