import { expect, test } from "bun:test";
import { failedTests, failuresOf, testTitle } from "./failed-tests.ts";

test("failedTests names what failed with file and outermost group, and nothing else", () => {
  const report = [
    '<testsuite name="good" file="src/good.test.ts"><testcase name="a &gt; b" file="src/good.test.ts" line="1" />',
    '<testcase name="x &quot;1&quot;" classname="inner &gt; g" file="test/bad.test.ts" line="2" assertions="1">\n  <failure type="AssertionError">no</failure>\n</testcase>',
    '<testcase name="y" classname="" file="test/bad.test.ts" line="3">\n<error>gone</error></testcase>',
    '<testcase name="z" file="test/skipped.test.ts" line="4">\n<skipped /></testcase></testsuite>',
  ].join("\n");
  const failed = failedTests(report);
  expect(failed).toEqual([
    { file: "test/bad.test.ts", group: "g", name: 'x "1"' },
    { file: "test/bad.test.ts", group: "", name: "y" },
  ]);
  expect(failed.map(testTitle)).toEqual(['test/bad.test.ts > g > x "1"', "test/bad.test.ts > y"]);
});

test("failedTests is empty without a report", () => {
  expect(failedTests("")).toEqual([]);
});

test("failuresOf adds what a failed run did not report, and blames what was asked for when nothing is known", () => {
  const report = '<testsuites tests="1" failures="0" skipped="0">';
  const missing = [{ file: "b.test.ts", group: "", name: "could not be loaded" }];
  expect(failuresOf({ report, status: 1 }, missing, ["a", "b"])).toEqual(missing);
  expect(failuresOf({ report, status: 0 }, missing, ["a", "b"])).toEqual([]);
  const titles = (status: number | null): readonly string[] =>
    failuresOf({ report: "", status }, [], ["a"]).map(testTitle);
  expect(titles(null)).toEqual(["a > bun test was killed"]);
  expect(titles(0)).toEqual(["a > bun test ended with 0 and named no test that failed"]);
});
