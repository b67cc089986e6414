/** One line: the family's name, a suffix, labels and the value. */
export interface Row {
  readonly suffix?: string;
  /** As `labelText` prints them. */
  readonly labels: string;
  readonly value: number;
}

export interface Family {
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly read: () => readonly Row[];
}

/** One family in Prometheus' text format. */
export function familyText(name: string, { help, type, read }: Family): string {
  const lines = read().map(({ suffix = "", labels, value }) => `${name}${suffix}${labels} ${printed(value)}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

export function labelText(names: readonly string[], values: readonly string[]): string {
  if (names.length === 0) return "";
  return `{${names.map((name, index) => `${name}="${escaped(values[index] ?? "")}"`).join(",")}}`;
}

export function withLabel(labels: string, name: string, value: string): string {
  const pair = `${name}="${escaped(value)}"`;
  return labels === "" ? `{${pair}}` : `${labels.slice(0, -1)},${pair}}`;
}

/** Prometheus writes Infinity as `+Inf`. */
export function printed(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

function escaped(value: string): string {
  return /[\\"\n]/u.test(value) ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n") : value;
}
