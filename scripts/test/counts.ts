/** How many tests passed and failed, read from the output of the runners. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export function addCounts(left: Counts, right: Counts): Counts {
  return { passed: left.passed + right.passed, failed: left.failed + right.failed };
}

/** cargo prints one `test result:` line per test program. */
export function cargoCounts(output: string): Counts {
  const lines = [...output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)];
  return lines
    .map((match) => ({ passed: Number(match[1]), failed: Number(match[2]) }))
    .reduce(addCounts, { passed: 0, failed: 0 });
}

/** The totals of a run, from its JUnit report. A run without a report counts as failed, whatever its exit code. */
export function reportedCounts(report: string, status: number | null): Counts {
  return atLeastOneFailure(junitCounts(report), report === "" ? null : status);
}

/** The totals on the root element of a JUnit report. */
export function junitCounts(report: string): Counts {
  const root = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? "";
  const number = (name: string): number => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(root)?.[1] ?? 0);
  const failed = number("failures") + number("errors");
  return { passed: number("tests") - failed - number("skipped"), failed };
}

/** A runner that ends badly without naming a failed test (a crash, a build error) still counts as one failure. */
export function atLeastOneFailure(counts: Counts, status: number | null): Counts {
  return status === 0 || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

export function summaryLine(counts: Counts): string {
  return `${counts.passed} passed, ${counts.failed} failed`;
}
