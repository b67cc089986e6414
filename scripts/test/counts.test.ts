import { expect, test } from "bun:test";
import { addCounts, cargoCounts, junitCounts, reportedCounts, summaryLine } from "./counts.ts";

test("cargoCounts sums every test program", () => {
  const output = [
    "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
    "test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
  ].join("\n");
  expect(cargoCounts(output)).toEqual({ passed: 15, failed: 2 });
});

test("cargoCounts is zero when nothing ran", () => {
  expect(cargoCounts("error: could not compile")).toEqual({ passed: 0, failed: 0 });
});

test("junitCounts reads the totals and leaves out what was skipped", () => {
  const report =
    '<?xml version="1.0"?>\n<testsuites name="bun test" tests="10" assertions="30" failures="2" skipped="1" time="0.1">';
  expect(junitCounts(report)).toEqual({ passed: 7, failed: 2 });
});

test("junitCounts is zero without a report", () => {
  expect(junitCounts("")).toEqual({ passed: 0, failed: 0 });
});

test("reportedCounts takes a run without a report for a failure, whatever its exit code", () => {
  expect(reportedCounts("", 0)).toEqual({ passed: 0, failed: 1 });
  expect(reportedCounts('<testsuites tests="2" failures="0" skipped="2">', 0)).toEqual({ passed: 0, failed: 0 });
  expect(reportedCounts('<testsuites tests="2" failures="0" skipped="0">', 1)).toEqual({ passed: 2, failed: 1 });
});

test("summaryLine is what CI looks for", () => {
  expect(summaryLine(addCounts({ passed: 1, failed: 0 }, { passed: 2, failed: 3 }))).toBe("3 passed, 3 failed");
});
