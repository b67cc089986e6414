import { expect, test } from "bun:test";
import { filesByTime, groupsByTime, slowestLines } from "./slowest.ts";

const report = [
  '<testsuites name="bun test" tests="3" time="4.2">',
  '<testsuite name="a.test.ts" file="a.test.ts" tests="2" time="3.25" hostname="vm">',
  '<testsuite name="outer" file="a.test.ts" line="2" tests="2" time="0.1">',
  '<testcase name="t" classname="inner &gt; outer" time="0.2" file="a.test.ts" />',
  '<testcase name="u" classname="outer" time="0.1" file="a.test.ts"><failure /></testcase></testsuite></testsuite>',
  '<testsuite name="b.test.ts" file="b.test.ts" tests="1" time="0.5"><testcase name="v" classname="" time="0.5" /></testsuite>',
].join("\n");

test("filesByTime takes the time of each file, not of the groups in it", () => {
  expect(filesByTime(report)).toEqual([
    { name: "a.test.ts", ms: 3250 },
    { name: "b.test.ts", ms: 500 },
  ]);
});

test("groupsByTime sums the tests of each outermost group", () => {
  const [outer, none] = groupsByTime(report);
  expect(outer?.name).toBe("outer");
  expect(outer?.ms).toBeCloseTo(300);
  expect(none).toEqual({ name: "", ms: 500 });
});

test("slowestLines names the ten slowest, slowest first", () => {
  const parts = Array.from({ length: 12 }, (_, index) => ({ name: `part-${index}`, ms: index * 1000 }));
  const lines = slowestLines(parts);
  expect(lines.length).toBe(10);
  expect(lines[0]).toBe("slow:   11.0 s  part-11");
  expect(lines.at(-1)).toBe("slow:    2.0 s  part-2");
});
