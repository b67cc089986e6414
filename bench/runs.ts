/** Runs that differ by more than this share of their median have no single number. */
const spreadShareMax = 0.1;

/** The middle one of several runs; of two, the higher one. A run that never ended counts as infinite. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** The run whose time is the median. */
export function middleRun<T>(runs: readonly T[], timeOf: (run: T) => number): T {
  const times = runs.map(timeOf);
  const run = runs[times.indexOf(medianOf(times))];
  if (run === undefined) throw new Error("There is no run of the storm");
  return run;
}

/** The median of several runs as text, or the lowest and the highest where they differ by more than a tenth. */
export function acrossRuns(values: readonly number[], show: (value: number) => string): string {
  const [lowest, highest, median] = [Math.min(...values), Math.max(...values), medianOf(values)];
  const isSteady = lowest === highest || (highest < Infinity && highest - lowest <= spreadShareMax * median);
  return isSteady ? show(median) : `${show(lowest)} to ${show(highest)}`;
}
