import { describe, expect, test } from "bun:test";
import { CommandFailure } from "../failure.ts";
import { stormPlanText, readAheadWanted, readPlan, sizesOf, stormDefaults, type StormWords } from "./plan.ts";
import { bytesText, parseBytes, parseCount, parseCpu, parseSpan } from "./quantity.ts";

function refusal(work: () => unknown): CommandFailure {
  try {
    work();
  } catch (error) {
    if (error instanceof CommandFailure) return error;
    throw error;
  }
  throw new Error("it was accepted");
}

const words: StormWords = { ...stormDefaults };

describe("quantities", () => {
  test("sizes are written as in a manifest", () => {
    expect(["50Mi", "64M", "1Gi", "1048576"].map((text) => parseBytes("--limit", text))).toEqual([
      52_428_800, 64_000_000, 1_073_741_824, 1_048_576,
    ]);
    expect([52_428_800, 1_073_741_824, 64_000_001].map(bytesText)).toEqual(["50Mi", "1Gi", "64000001"]);
  });

  test("CPU is cores or thousandths of one", () => {
    expect(["100m", "1", "0.5"].map((text) => parseCpu("--cpu", text))).toEqual([100, 1000, 500]);
  });

  test("times have a unit", () => {
    expect(["2s", "500ms", "1.5s", "3m"].map((text) => parseSpan("--timeout", text))).toEqual([
      2000, 500, 1500, 180_000,
    ]);
  });

  test.each([
    () => parseBytes("--limit", "50MB"),
    () => parseBytes("--limit", "-1"),
    () => parseBytes("--limit", "5constructor"),
    () => parseCpu("--cpu", "0"),
    () => parseCpu("--cpu", "fast"),
    () => parseSpan("--timeout", "2"),
    () => parseCount("--pods", "0", { min: 1, max: 9 }),
    () => parseCount("--pods", "1e3", { min: 1, max: 9000 }),
  ])("what cannot be read is refused with an example (%#)", (work) => {
    expect(refusal(work)).toMatchObject({ code: "usage", exitCode: 2, remedy: expect.stringMatching(/^--/u) });
  });
});

describe("readPlan", () => {
  test("has the defaults of the outage that was", () => {
    expect(readPlan(words)).toMatchObject({
      pods: 219,
      limitBytes: 50 * 1024 ** 2,
      cpuMillis: undefined,
      second: { pods: 6, afterMs: 2000, isCritical: false },
      delegates: [],
    });
    expect(stormPlanText(readPlan({ ...words, cpu: "100m" }))).toBe("219 pods at 50Mi and 100m of CPU");
  });

  test.each([{ limit: "8Mi" }, { pods: "100000" }, { workDir: "relative" }, { workDir: "/nowhere/at/all" }])(
    "refuses %j",
    (wrong) => {
      expect(refusal(() => readPlan({ ...words, ...wrong })).exitCode).toBe(2);
    },
  );
});

describe("readAheadWanted", () => {
  test("is 128 on a disk of its own when the node's reads further ahead, unless something else is wanted", () => {
    expect([undefined, 64, 128, 129, 8192].map((kib) => readAheadWanted(undefined, kib))).toEqual([
      undefined,
      undefined,
      undefined,
      128,
      128,
    ]);
    expect([readAheadWanted("node", 8192), readAheadWanted("4096", 128)]).toEqual([undefined, 4096]);
    expect(refusal(() => readAheadWanted("128k", 128))).toMatchObject({ exitCode: 2, remedy: "--read-ahead 128" });
  });
});

describe("sizesOf", () => {
  test("is the one size, or that and its doubles up to the most", () => {
    const plan = readPlan(words);
    expect(sizesOf(plan, { maxPods: "2000" })).toEqual([219]);
    expect(sizesOf(plan, { untilItBreaks: true, maxPods: "2000" })).toEqual([219, 438, 876, 1752, 2000]);
    expect(sizesOf(plan, { untilItBreaks: true, maxPods: "219" })).toEqual([219]);
    expect(refusal(() => sizesOf(plan, { untilItBreaks: true, maxPods: "100" })).exitCode).toBe(2);
  });
});
