/** One sample of Prometheus' text format. */
export interface Metric {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads what our own programs print: a name, labels and a number. Other lines are skipped. */
export function metricsOf(text: string): readonly Metric[] {
  return text.split("\n").flatMap((line) => {
    const [, name = "", labels = "", number = ""] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/u.exec(line) ?? [];
    const value = Number(number);
    return name === "" || number === "" || Number.isNaN(value) ? [] : [{ name, labels: labelsOf(labels), value }];
  });
}

export function metricOf(metrics: readonly Metric[], name: string): number | undefined {
  return metrics.find((metric) => metric.name === name)?.value;
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const pairs = [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/gu)];
  return Object.fromEntries(pairs.map(([, key = "", value = ""]) => [key, value]));
}
