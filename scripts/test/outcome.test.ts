import { expect, test } from "bun:test";
import { addOutcomes, isGood, lastLines, nothingRan, withSecondLook, type Outcome } from "./outcome.ts";

const good: Outcome = { counts: { passed: 3, failed: 0 }, failed: [], unsteady: [], parts: [] };
const bad: Outcome = {
  counts: { passed: 2, failed: 1 },
  failed: ["test/a.test.ts > x"],
  unsteady: [],
  parts: [{ name: "test/a.test.ts", ms: 1_500 }],
};

test("a test that passes in the second run is unsteady, and the run is good", () => {
  const outcome = addOutcomes(good, withSecondLook(bad, { ...good, counts: { passed: 1, failed: 0 } }));
  expect(isGood(outcome)).toBe(true);
  expect(lastLines(outcome)).toBe(
    "\nslow:    1.5 s  test/a.test.ts\nunsteady (failed at first, passed alone): test/a.test.ts > x\n6 passed, 0 failed",
  );
});

test("a test that fails twice is named last, before the sum", () => {
  const outcome = addOutcomes(withSecondLook(bad, bad), good);
  expect(isGood(outcome)).toBe(false);
  expect(lastLines(outcome)).toBe("\nslow:    1.5 s  test/a.test.ts\nfailed: test/a.test.ts > x\n5 passed, 1 failed");
});

test("of two tests that failed, the one that passes in the second run is unsteady and the other failed", () => {
  const both: Outcome = {
    ...bad,
    counts: { passed: 1, failed: 2 },
    failed: ["test/a.test.ts > x", "test/b.test.ts > y"],
  };
  const again: Outcome = { ...bad, counts: { passed: 1, failed: 1 }, failed: ["test/b.test.ts > y"] };
  expect(lastLines(withSecondLook(both, again)).split("\n").slice(2)).toEqual([
    "unsteady (failed at first, passed alone): test/a.test.ts > x",
    "failed: test/b.test.ts > y",
    "2 passed, 1 failed",
  ]);
});

test("a second run without any test changes nothing", () => {
  expect(withSecondLook(bad, nothingRan)).toEqual(bad);
});

test("a file that failed before its first test counts with all of its tests after a good second run", () => {
  const never: Outcome = { counts: { passed: 0, failed: 1 }, failed: ["test/a.test.ts"], unsteady: [], parts: [] };
  expect(withSecondLook(never, good).counts).toEqual({ passed: 3, failed: 0 });
});

test("a run in which nothing ran is not good", () => {
  expect(isGood(nothingRan)).toBe(false);
});
