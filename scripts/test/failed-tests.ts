import { reportedCounts } from "./counts.ts";
import { attribute } from "./junit-attribute.ts";

/** The failed tests of a JUnit report as `bun test` writes it, in the report's order. */
export interface FailedTest {
  readonly file: string;
  /** The outermost group of the test, which Bun names last; empty if it has none. */
  readonly group: string;
  readonly name: string;
}

export function failedTests(report: string): readonly FailedTest[] {
  const failedCase = /<testcase\b([^>]*[^/])>\s*<(?:failure|error)\b/g;
  return [...report.matchAll(failedCase)].map(([, attributes = ""]) => ({
    file: attribute(attributes, "file"),
    group: attribute(attributes, "classname").split(" > ").at(-1) ?? "",
    name: attribute(attributes, "name"),
  }));
}

/** How a runner ended, and its report. */
export interface EndedRun {
  readonly report: string;
  /** Null when it was killed. */
  readonly status: number | null;
}

/**
 * The failures by report and exit code: the tests that the report names, otherwise the unreported ones. A crash of the
 * runner, or an error outside of every test, counts as a failure of the paths that were asked for.
 */
export function failuresOf(
  { report, status }: EndedRun,
  unreported: readonly FailedTest[],
  blamed: readonly string[],
): readonly FailedTest[] {
  const known = [...failedTests(report), ...(status === 0 ? [] : unreported)];
  if (known.length > 0 || reportedCounts(report, status).failed === 0) return known;
  const name = status === null ? "bun test was killed" : `bun test ended with ${status} and named no test that failed`;
  return blamed.map((file) => ({ file, group: "", name }));
}

export function testTitle({ file, group, name }: FailedTest): string {
  return [file, group, name].filter((part) => part !== "").join(" > ");
}
