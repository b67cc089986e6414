/** Numbers over time. */
export interface PlotData {
  /** Milliseconds since 1970, oldest first. */
  readonly timesMs: readonly number[];
  readonly series: readonly PlotSeries[];
  /** Each series stands on the one before it. */
  readonly isStacked: boolean;
}

interface PlotSeries {
  readonly label: string;
  readonly values: readonly number[];
}

/** As many colours as there are lines in a plot; the key and the table have their names. */
export const plotColours = 9;
