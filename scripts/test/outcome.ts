/** The outcome of a run, and its last lines, which name everything that failed. */
import { addCounts, summaryLine, type Counts } from "./counts.ts";
import { slowestLines, type TimedPart } from "./slowest.ts";

export interface Outcome {
  readonly counts: Counts;
  /** By title. */
  readonly failed: readonly string[];
  /** Failed at first and passed in a second run, alone: a defect to mend that does not fail the run. */
  readonly unsteady: readonly string[];
  /** Each part that ran, with its time. */
  readonly parts: readonly TimedPart[];
}

export const nothingRan: Outcome = { counts: { passed: 0, failed: 0 }, failed: [], unsteady: [], parts: [] };

export function addOutcomes(left: Outcome, right: Outcome): Outcome {
  return {
    counts: addCounts(left.counts, right.counts),
    failed: [...left.failed, ...right.failed],
    unsteady: [...left.unsteady, ...right.unsteady],
    parts: [...left.parts, ...right.parts],
  };
}

/** The outcome after a second run of everything that failed. */
export function withSecondLook(first: Outcome, second: Outcome): Outcome {
  const ranAgain = second.counts.passed + second.counts.failed;
  // A second run without any test proves nothing.
  if (ranAgain === 0) return first;
  // A file that failed before its first test counted as one test in the first run, and counts as all of its tests in the second.
  const ran = Math.max(first.counts.passed + first.counts.failed, ranAgain);
  return {
    counts: { passed: ran - second.counts.failed, failed: second.counts.failed },
    failed: second.failed,
    unsteady: first.failed.filter((title) => !second.failed.includes(title)),
    parts: first.parts,
  };
}

/** The slowest parts, then the unsteady and failed tests, then the sum. */
export function lastLines({ counts, failed, unsteady, parts }: Outcome): string {
  return [
    "",
    ...slowestLines(parts),
    ...unsteady.map((title) => `unsteady (failed at first, passed alone): ${title}`),
    ...failed.map((title) => `failed: ${title}`),
    summaryLine(counts),
  ].join("\n");
}

export function isGood({ counts }: Outcome): boolean {
  return counts.failed === 0 && counts.passed > 0;
}
