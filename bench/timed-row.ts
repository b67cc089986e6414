import { round } from "./cell.ts";

/** The times of one short action that was done many times. */
export interface TimedRow {
  readonly label: string;
  readonly runs: number;
  readonly median: number;
  readonly p90: number;
  /** Memory of the measured process while it waits. */
  readonly waitingMib?: number;
}

export const timedHeader = ["", "runs", "median ms", "p90 ms", "waiting MiB"] as const;

/** Median and 90th percentile of a row of times. */
export function timedRow(label: string, timesMs: readonly number[], waitingMib?: number): TimedRow {
  const sorted = timesMs.toSorted((left, right) => left - right);
  const at = (share: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  return {
    label,
    runs: sorted.length,
    median: at(0.5),
    p90: at(0.9),
    ...(waitingMib === undefined ? {} : { waitingMib: round(waitingMib) }),
  };
}

export function timedCells(row: TimedRow): readonly string[] {
  return [
    row.label,
    String(row.runs),
    row.median.toFixed(2),
    row.p90.toFixed(2),
    row.waitingMib === undefined ? "–" : row.waitingMib.toFixed(1),
  ];
}
