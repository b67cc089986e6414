import type { Cell } from "./cell.ts";

/** A Markdown table that also reads well in a terminal. */
export function asTable({ title, command, header, rows }: Cell): string {
  const widths = header.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (values: readonly string[]): string =>
    `| ${values.map((value, column) => (column === 0 ? value.padEnd(widths[column] ?? 0) : value.padStart(widths[column] ?? 0))).join(" | ")} |`;
  const rule = `| ${widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(Math.max(1, width - 1))}:`)).join(" | ")} |`;
  return [`### ${title}`, "", line(header), rule, ...rows.map(line), "", `\`${command}\``].join("\n");
}

export function verdictLines({ verdicts, notes }: Pick<Cell, "verdicts" | "notes">): string {
  const lines = verdicts.map((verdict) => `${verdict.holds ? "✓" : "✗"} ${verdict.promise}: ${verdict.seen}`);
  return [...lines, ...notes].map((text) => `- ${text}`).join("\n");
}
