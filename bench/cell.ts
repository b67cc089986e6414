/** One measurement: rows of the same thing done in different ways, and what must hold between them. */
export interface Cell {
  readonly name: string;
  readonly title: string;
  readonly command: string;
  readonly unit: "ms";
  readonly rows: readonly Row[];
  readonly verdicts: readonly Verdict[];
  readonly notes: readonly string[];
}

export interface Row {
  readonly label: string;
  readonly runs: number;
  readonly median: number;
  readonly p90: number;
  /** Memory of the measured process while it waits. */
  readonly waitingMib?: number;
}

/** A promise, as a ratio or a difference taken in this run. */
export interface Verdict {
  readonly promise: string;
  readonly seen: string;
  readonly holds: boolean;
}

/** Median and 90th percentile of a row of times. */
export function rowOf(label: string, timesMs: readonly number[], waitingMib?: number): Row {
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

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
