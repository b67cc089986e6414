/** The parts of Markdown that the rules read: tables and links. */

export interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of the first table whose header starts with `firstColumns`, without header and rule; undefined if there is none. */
export function tableRows(markdown: string, firstColumns: readonly string[]): readonly Row[] | undefined {
  const lines = markdown.split("\n");
  const header = lines.findIndex((line) => {
    const cells = cellsOf(line);
    return cells !== undefined && firstColumns.every((name, index) => cells[index] === name);
  });
  if (header === -1) return undefined;
  const rows: Row[] = [];
  for (let index = header + 2; index < lines.length; index += 1) {
    const cells = cellsOf(lines[index] ?? "");
    if (cells === undefined) break;
    rows.push({ line: index + 1, cells });
  }
  return rows;
}

/** A cell without the backticks around it. */
export function plain(cell: string | undefined): string {
  return (cell ?? "").replace(/^`(.*)`$/, "$1");
}

export interface Link {
  readonly line: number;
  readonly target: string;
}

/** Links and pictures of a page, except those in code. */
export function linksOf(markdown: string): readonly Link[] {
  let inFence = false;
  return markdown.split("\n").flatMap((line, index): readonly Link[] => {
    if (/^\s*(?:```|~~~)/.test(line)) inFence = !inFence;
    if (inFence) return [];
    const prose = line.replaceAll(/`[^`]*`/g, "");
    const found = [...prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g), ...prose.matchAll(/\bsrc(?:set)?="([^"]+)"/g)];
    return found.map((match) => ({ line: index + 1, target: match[1] ?? "" }));
  });
}

/** The anchors GitHub makes of a page's headings. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.matchAll(/^#{1,6} +(.+?) *$/gm)].map((match) => match[1] ?? "");
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function cellsOf(line: string): readonly string[] | undefined {
  const text = line.trim();
  if (!text.startsWith("|") || !text.endsWith("|")) return undefined;
  return text
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}
