import { markdownText } from "../../../guard/detect/foreign-text.ts";
import { oneLine } from "../../../base/plain-text.ts";

/** Longer than any field of a Decision: nothing is cut in the middle of a number. */
const charsMax = 100_000;

/**
 * Text of a tenant, a person or the guard inside of Markdown: it cannot begin anything there. Names, times and numbers stay
 * readable: inside of a word a hyphen, a colon or a point begins nothing, nor does a parenthesis behind an escaped bracket.
 */
export function md(text: string): string {
  return markdownText(text, charsMax)
    .replaceAll(/(?<=\w)\\([-:])(?=\w)/gu, "$1")
    .replaceAll(/(?<=\d)\\\.(?=\d)/gu, ".")
    .replaceAll(/\\([()])/gu, "$1");
}

/** A line as it is typed. A run of backticks inside makes the fence longer. */
export function codeBlock(lines: readonly string[]): string {
  const text = lines.map(oneLine).join("\n");
  const runs = [...text.matchAll(/`+/gu)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}sh\n${text}\n${fence}\n`;
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => (cell === "" ? "–" : cell)).join(" | ")} |\n`;
  return line(headings) + line(headings.map(() => "---")) + rows.map(line).join("");
}

export function list(items: readonly string[]): string {
  return items.map((item) => `- ${item}\n`).join("");
}
