import { expect, test } from "bun:test";
import { acrossRuns, medianOf, middleRun } from "./runs.ts";

const show = (value: number): string => (Number.isFinite(value) ? `${value} s` : "never");

test("medianOf takes the middle run, and of two the worse one", () => {
  expect([medianOf([3, 1, 2]), medianOf([2, 1]), medianOf([7]), medianOf([1, Infinity, 2])]).toEqual([2, 2, 7, 2]);
});

test.each([
  [[40, 41, 43], "41 s"],
  [[40, 41, 44], "41 s"],
  [[40, 41, 44.5], "40 s to 44.5 s"],
  [[0, 0, 0], "0 s"],
  [[0, 0, 2], "0 s to 2 s"],
  [[40, 41, Infinity], "40 s to never"],
  [[Infinity, Infinity, Infinity], "never"],
  [[5], "5 s"],
])("acrossRuns shows the median of %j, or the spread when they differ by more than a tenth: %s", (values, shown) => {
  expect(acrossRuns(values, show)).toBe(shown);
});

test("middleRun is the run with the median time", () => {
  const runs = [{ ms: 3 }, { ms: 1 }, { ms: 2 }];
  expect(middleRun(runs, ({ ms }) => ms)).toBe(runs[2] as { ms: number });
  expect(() => middleRun([], () => 0)).toThrow("There is no run of the storm");
});
