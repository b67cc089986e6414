/** One measurement: rows of the same thing done in different ways, and what must hold between them. */
export interface Cell {
  readonly name: string;
  readonly title: string;
  readonly command: string;
  readonly header: readonly string[];
  /** As they are shown: the label first. */
  readonly rows: readonly (readonly string[])[];
  readonly verdicts: readonly Verdict[];
  readonly notes: readonly string[];
  /** SVG by name. */
  readonly plots: Readonly<Record<string, string>>;
  /** What the rows were made of, for whoever wants to draw it another way. */
  readonly figures: unknown;
}

/** A promise and what was seen of it in this run. */
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
