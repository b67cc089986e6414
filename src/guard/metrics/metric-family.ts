/** A line of a metric: its labels in braces, or nothing, and the value. */
export type MetricRow = readonly [labels: string, value: number];

/** One metric in Prometheus' text format. */
export function metricFamily(
  name: string,
  help: string,
  rows: readonly MetricRow[],
  type: "gauge" | "counter" = "gauge",
): string {
  const lines = rows.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}
