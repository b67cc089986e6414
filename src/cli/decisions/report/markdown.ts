import { markdownText } from "../../../guard/detect/foreign-text.ts";
import { oneLine } from "../../../base/plain-text.ts";

/** Longer than any field of a Decision, so nothing is cut. */
const charsMax = 100_000;

/**
 * Escapes foreign text for Markdown, so that it has no effect there. A report is also read as plain text, so marks that
 * have no effect where they stand are left as they are: those inside a word, those at the end of one, and brackets,
 * braces and exclamation marks, which need a square bracket. A text of one line begins a list only at its beginning, and
 * an address is a link only after `www.` or by `://`.
 */
export function md(text: string): string {
  return markdownText(text, charsMax)
    .replaceAll(/(?<=\w)\\([-:_+])(?=\w)/gu, "$1")
    .replaceAll(/(?<!^)\\([-+])/gu, "$1")
    .replaceAll(/(?<=\w)(?<!\bwww)\\\.(?=\w)/giu, ".")
    .replaceAll(/(?<!^\d+)\\([.:])(?=\s|$)/gu, "$1")
    .replaceAll(/\\([(){}!])/gu, "$1");
}

/** Lines to type, as a code block. */
export function codeBlock(lines: readonly string[]): string {
  return blockOf(lines, "sh");
}

/** Lines to read, such as a chain of causes. */
export function textBlock(lines: readonly string[]): string {
  return blockOf(lines, "text");
}

/** Backticks inside make the fence longer. */
function blockOf(lines: readonly string[], language: string): string {
  const text = lines.map(oneLine).join("\n");
  const runs = [...text.matchAll(/`+/gu)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(3, ...runs.map((length) => length + 1)));
  return `${fence}${language}\n${text}\n${fence}\n`;
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
