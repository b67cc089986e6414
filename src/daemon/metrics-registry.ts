import { Distribution } from "./metrics-distribution.ts";

/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export interface Counter {
  add(labels?: Labels, by?: number): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

/** A line of the text: the family's name, then a suffix, then labels. */
interface Row {
  readonly suffix?: string;
  readonly labels: string;
  readonly value: number;
}

/** One namespace or one network must not fill the daemon's memory with series. */
const seriesMax = 1_000;
/** Each series of a histogram is a line per bound. */
const distributionsMax = 200;

/**
 * What Prometheus reads. Counters are kept here; gauges are read from their owners when somebody asks, so nothing is
 * kept twice.
 */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    const series = new Map<string, number>();
    this.#add(name, { help, type: "counter", read: () => [...series].map(([labels, value]) => ({ labels, value })) });
    return {
      add: (labels = {}, by = 1) => {
        const key = labelText(labels);
        if (!series.has(key) && series.size >= seriesMax) return;
        series.set(key, (series.get(key) ?? 0) + by);
      },
    };
  }

  gauge(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#add(name, { help, type: "gauge", read: () => samplesOf(read()) });
  }

  /** The same, for numbers that only rise and are counted by their owner. */
  counted(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#add(name, { help, type: "counter", read: () => samplesOf(read()) });
  }

  /** Bounds are upper ones, in rising order; what is above the last is counted as well. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const series = new Map<string, { readonly labels: Labels; readonly seen: Distribution }>();
    this.#add(name, {
      help,
      type: "histogram",
      read: () => [...series.values()].flatMap(({ labels, seen }) => distributionRows(labels, seen)),
    });
    return {
      observe: (value, labels = {}) => {
        const key = labelText(labels);
        let one = series.get(key);
        if (one === undefined) {
          if (series.size >= distributionsMax) return;
          one = { labels, seen: new Distribution(bounds) };
          series.set(key, one);
        }
        one.seen.add(value);
      },
    };
  }

  /** Every family with its help, for the page that lists them. */
  families(): readonly { readonly name: string; readonly type: string; readonly help: string }[] {
    return [...this.#families].map(([name, { type, help }]) => ({ name, type, help }));
  }

  /** The text format of Prometheus. */
  render(): string {
    return [...this.#families].map(([name, family]) => familyText(name, family)).join("");
  }

  #add(name: string, family: Family): void {
    if (this.#families.has(name)) throw new TypeError(`Cannot register the metric ${name} twice`);
    this.#families.set(name, family);
  }
}

interface Family {
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly read: () => readonly Row[];
}

function samplesOf(read: number | readonly Sample[]): readonly Row[] {
  if (typeof read === "number") return [{ labels: "", value: read }];
  return read.slice(0, seriesMax).map(({ labels = {}, value }) => ({ labels: labelText(labels), value }));
}

function distributionRows(labels: Labels, seen: Distribution): readonly Row[] {
  const buckets = seen.cumulative().map(({ bound, count }) => ({
    suffix: "_bucket",
    labels: labelText({ ...labels, le: bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound) }),
    value: count,
  }));
  const own = labelText(labels);
  return [
    ...buckets,
    { suffix: "_sum", labels: own, value: seen.sum },
    { suffix: "_count", labels: own, value: seen.count },
  ];
}

function familyText(name: string, { help, type, read }: Family): string {
  const lines = read().map(({ suffix = "", labels, value }) => `${name}${suffix}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
