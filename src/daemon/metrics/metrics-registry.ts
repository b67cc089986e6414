import type { Clock } from "../../base/clock.ts";
import { Distribution } from "./distribution.ts";
import { SeriesSet, type Labelled } from "./series-set.ts";
import { familyText, labelText, printed, withLabel, type Family, type Row } from "./metrics-text.ts";

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** `values` are those of the labels named at registration, in their order. */
export interface Counter {
  add(values?: readonly string[], by?: number): void;
}

export interface Histogram {
  observe(value: number, values?: readonly string[]): void;
}

/** Each series is a line in the text and about a hundred bytes of memory. */
const seriesMax = 1_000;
/** Each series of a histogram is a line per bound, so fewer are kept. */
const distributionsMax = 200;

const noValues: readonly string[] = [];

/**
 * All metrics of the daemon. Counters are kept here; gauges are read from their owners at each scrape, so nothing is
 * stored twice.
 */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>();

  /** A counter without labels starts at zero. */
  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const set = new SeriesSet({ labels, seriesMax, make: () => ({ count: 0 }) });
    if (labels.length === 0) set.find(noValues);
    const read = (): readonly Row[] => set.all.map(({ text, series }) => ({ labels: text, value: series.count }));
    this.#add(name, { help, type: "counter", read });
    return {
      add: (values = noValues, by = 1) => {
        const series = set.find(values);
        if (series !== undefined) series.count += by;
      },
    };
  }

  gauge(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#add(name, { help, type: "gauge", read: () => samplesOf(read()) });
  }

  /** A counter whose owner does the counting. */
  counted(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#add(name, { help, type: "counter", read: () => samplesOf(read()) });
  }

  /** `bounds` are upper bounds in rising order; values above the last are counted as well. */
  histogram(name: string, help: string, bounds: readonly number[], labels: readonly string[] = []): Histogram {
    const set = new SeriesSet({ labels, seriesMax: distributionsMax, make: () => new Distribution(bounds) });
    this.#add(name, { help, type: "histogram", read: () => set.all.flatMap(distributionRows) });
    return { observe: (value, values = noValues) => set.find(values)?.add(value) };
  }

  /** Every family with its help text, for the check of docs/metrics.md. */
  families(): readonly { readonly name: string; readonly type: string; readonly help: string }[] {
    return [...this.#families].map(([name, { type, help }]) => ({ name, type, help }));
  }

  /** Prometheus' text format, of all families or of the named ones. */
  render(names: Iterable<string> = this.#families.keys()): string {
    let text = "";
    for (const name of names) {
      const family = this.#families.get(name);
      if (family !== undefined) text += familyText(name, family);
    }
    return text;
  }

  #add(name: string, family: Family): void {
    if (this.#families.has(name)) throw new TypeError(`Cannot register the metric ${name} twice`);
    this.#families.set(name, family);
  }
}

function samplesOf(read: number | readonly Sample[]): readonly Row[] {
  if (typeof read === "number") return [{ labels: "", value: read }];
  return read.slice(0, seriesMax).map(({ labels = {}, value }) => ({
    labels: labelText(Object.keys(labels), Object.values(labels)),
    value,
  }));
}

function distributionRows({ text, series }: Labelled<Distribution>): readonly Row[] {
  const buckets = series.cumulative().map(({ bound, count }) => ({
    suffix: "_bucket",
    labels: withLabel(text, "le", printed(bound)),
    value: count,
  }));
  return [
    ...buckets,
    { suffix: "_sum", labels: text, value: series.sum },
    { suffix: "_count", labels: text, value: series.count },
  ];
}

/** Longer than one scrape takes, shorter than the pause before the next. */
const freshMs = 100;

/** Reads once per scrape for all gauges that show a part of the value. */
export function oncePerScrape<T>(clock: Clock, read: () => T): () => T {
  let kept: { readonly value: T; readonly atMs: number } | undefined;
  return () => {
    const atMs = clock.monotonicMs();
    if (kept === undefined || atMs - kept.atMs > freshMs) kept = { value: read(), atMs };
    return kept.value;
  };
}
