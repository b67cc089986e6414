import { oneLine } from "../../base/plain-text.ts";

/** Columns as kubectl prints them: headings in capitals, three spaces between columns, no trailing spaces. */
export function renderTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) => headings.map((_, column) => cell(row[column])));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => width(line[column] ?? ""))));
  return lines
    .map(
      (line) =>
        `${line
          .map((text, column) => padded(text, widths[column] ?? 0))
          .join("   ")
          .trimEnd()}\n`,
    )
    .join("");
}

/** `-` for an empty cell, which would shift the columns for `awk`. */
function cell(text: string | undefined): string {
  const plain = oneLine(text ?? "");
  return plain === "" ? "-" : plain;
}

function padded(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - width(text)));
}

/** Code points, not UTF-16 units. */
function width(text: string): number {
  return [...text].length;
}
