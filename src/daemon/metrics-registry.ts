/** Label values by label name. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

export interface Counter {
  add(labels?: Labels, by?: number): void;
}

/** One namespace or one network must not fill the daemon's memory with series. */
const seriesMax = 1_000;

/**
 * What Prometheus reads. Counters are kept here; gauges are read from their owners when somebody asks, so nothing is
 * kept twice.
 */
export class MetricsRegistry {
  readonly #families = new Map<string, Family>();

  counter(name: string, help: string): Counter {
    const series = new Map<string, number>();
    this.#add(name, { help, type: "counter", read: () => [...series].map(([key, value]) => ({ key, value })) });
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
  readonly type: "counter" | "gauge";
  readonly read: () => readonly { readonly key: string; readonly value: number }[];
}

function samplesOf(read: number | readonly Sample[]): readonly { key: string; value: number }[] {
  if (typeof read === "number") return [{ key: "", value: read }];
  return read.slice(0, seriesMax).map(({ labels = {}, value }) => ({ key: labelText(labels), value }));
}

function familyText(name: string, { help, type, read }: Family): string {
  const lines = read().map(({ key, value }) => `${name}${key} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
