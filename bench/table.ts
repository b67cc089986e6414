import type { Cell } from "./cell.ts";

/** A Markdown table that also reads well in a terminal. */
export function asTable(cell: Cell): string {
  const header = ["", "runs", `median ${cell.unit}`, `p90 ${cell.unit}`, "waiting MiB"];
  const rows = cell.rows.map((row) => [
    row.label,
    String(row.runs),
    row.median.toFixed(2),
    row.p90.toFixed(2),
    row.waitingMib?.toFixed(1) ?? "–",
  ]);
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (values: readonly string[]): string =>
    `| ${values.map((value, column) => (column === 0 ? value.padEnd(widths[column] ?? 0) : value.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [`### ${cell.title}`, "", line(header), rule, ...rows.map(line), "", `\`${cell.command}\``].join("\n");
}

export function verdictLines(cell: Cell): string {
  const verdicts = cell.verdicts.map((verdict) => `${verdict.holds ? "✓" : "✗"} ${verdict.promise}: ${verdict.seen}`);
  return [...verdicts, ...cell.notes].map((text) => `- ${text}`).join("\n");
}
