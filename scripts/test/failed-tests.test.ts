import { expect, test } from "bun:test";
import { failedTests, testTitle } from "./failed-tests.ts";

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
