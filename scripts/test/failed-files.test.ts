import { expect, test } from "bun:test";
import { failedFiles } from "./failed-files.ts";

test("failedFiles names each file with a failure once, and no file without", () => {
  const report = [
    '<testsuite name="good" file="src/good.test.ts"><testcase name="a &gt; b" file="src/good.test.ts" line="1" />',
    '<testcase name="x" classname="g" file="test/bad.test.ts" line="2" assertions="1">\n  <failure type="AssertionError">no</failure>\n</testcase>',
    '<testcase name="y" file="test/bad.test.ts" line="3">\n<error>gone</error></testcase>',
    '<testcase name="z" file="test/skipped.test.ts" line="4">\n<skipped /></testcase></testsuite>',
  ].join("\n");
  expect(failedFiles(report)).toEqual(["test/bad.test.ts"]);
});

test("failedFiles is empty without a report", () => {
  expect(failedFiles("")).toEqual([]);
});
