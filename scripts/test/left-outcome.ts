/** How a run hands its outcome to the program that started it: as JSON in the file that this variable names. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { nothingRan, type Outcome } from "./outcome.ts";

export const outcomeVariable = "LEVEE_OUTCOME";

export function leaveOutcome(outcome: Outcome): void {
  const file = process.env[outcomeVariable];
  if (file !== undefined && file !== "") writeFileSync(file, JSON.stringify(outcome));
}

/** A run that ended badly and left no outcome, or a good one, counts as one failure with that name. */
export function leftOutcome(file: string, name: string, status: number | null): Outcome {
  const left = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Outcome) : nothingRan; // as `leaveOutcome` wrote it
  if (status === 0 || left.counts.failed > 0) return left;
  return { ...left, counts: { ...left.counts, failed: 1 }, failed: [...left.failed, name] };
}
