/** One measurement: one row per way to do the same work, and the promises about them. */
export interface Cell {
  readonly name: string;
  readonly title: string;
  readonly command: string;
  readonly header: readonly string[];
  /** In the order of the table: the label first. */
  readonly rows: readonly (readonly string[])[];
  readonly verdicts: readonly Verdict[];
  readonly notes: readonly string[];
  /** SVG by name. */
  readonly plots: Readonly<Record<string, string>>;
  /** The raw figures behind the rows, for other plots. */
  readonly figures: unknown;
}

/** A promise and its result in this run. */
export interface Verdict {
  readonly promise: string;
  readonly seen: string;
  readonly holds: boolean;
}

export function round(value: number): number {
  return Math.round(value * 100) / 100;
}

export function seconds(ms: number | undefined): string {
  return ms === undefined ? "never" : `${(ms / 1000).toFixed(2)} s`;
}
