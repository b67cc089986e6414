import { plainText } from "../../../base/plain-text.ts";
import type { Colour, Paint } from "../../terminal/paint.ts";

/** A line of the screen. Its colour is added last, because colour codes have no width. */
export interface ScreenLine {
  readonly text: string;
  readonly colour?: Colour;
}

/** A heading and its rows. A low screen shows fewer rows. */
export interface ScreenSection {
  readonly heading: string;
  readonly rows: readonly ScreenLine[];
}

/** Every list gets this many rows before any list gets more. */
const rowsFirst = 2;

/** Shares the rows of the screen among the lists, one by one. */
export function fitSections(sections: readonly ScreenSection[], rowsMax: number): readonly ScreenLine[] {
  const shown = sections.map(({ rows }) => Math.min(rows.length, rowsFirst));
  const height = (): number => shown.reduce((sum, count) => sum + count + 2, 0);
  for (let isGrowing = true; isGrowing;) {
    isGrowing = false;
    for (const [at, { rows }] of sections.entries()) {
      const count = shown[at] ?? 0;
      if (count >= rows.length || height() >= rowsMax) continue;
      shown[at] = count + 1;
      isGrowing = true;
    }
  }
  return sections.flatMap(({ heading, rows }, at) => {
    const count = shown[at] ?? 0;
    const more = rows.length > count ? ` (${count} of ${rows.length})` : "";
    return [{ text: "" }, { text: `${heading}${more}`, colour: "bold" as const }, ...rows.slice(0, count)];
  });
}

/** Pads the cells so that columns align. */
export function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, width(cell));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + " ".repeat((widths[at] ?? 0) - width(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Cuts the line to the screen's width, and removes control characters that a plugin may have written. */
export function painted({ text, colour }: ScreenLine, columns: number, paint: Paint): string {
  const plain = plainText(text).replaceAll("\n", " ").replaceAll("\t", " ");
  const characters = [...plain];
  const cut = characters.length > columns ? `${characters.slice(0, Math.max(0, columns - 1)).join("")}…` : plain;
  return colour === undefined ? cut : paint(colour, cut);
}

function width(text: string): number {
  return [...text].length;
}
