/** Which parts of a run took longest, read from JUnit reports as `bun test` writes them. */
import { attribute } from "./junit-attribute.ts";

export interface TimedPart {
  readonly name: string;
  readonly ms: number;
}

const slowestMax = 10;

/** One part per test file. Its time includes the hooks. */
export function filesByTime(report: string): readonly TimedPart[] {
  return [...report.matchAll(/<testsuite\b([^>]*)>/g)]
    .map(([, attributes = ""]) => attributes)
    .filter((attributes) => attribute(attributes, "name") === attribute(attributes, "file"))
    .map((attributes) => ({ name: attribute(attributes, "file"), ms: msOf(attributes) }));
}

/** One part per outermost group. Bun does not count the hooks of a group. */
export function groupsByTime(report: string): readonly TimedPart[] {
  const sums = new Map<string, number>();
  for (const [, attributes = ""] of report.matchAll(/<testcase\b([^>]*)>/g)) {
    const group = attribute(attributes, "classname").split(" > ").at(-1) ?? "";
    sums.set(group, (sums.get(group) ?? 0) + msOf(attributes));
  }
  return [...sums].map(([name, ms]) => ({ name, ms }));
}

export function slowestLines(parts: readonly TimedPart[]): readonly string[] {
  return parts
    .toSorted((left, right) => right.ms - left.ms)
    .slice(0, slowestMax)
    .map(({ name, ms }) => `slow: ${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`);
}

function msOf(attributes: string): number {
  return Number(attribute(attributes, "time")) * 1000;
}
