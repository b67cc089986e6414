import type { Cell, Verdict } from "./cell.ts";

/** Where the block is in README.md. */
export const blockBegin = "<!-- bench: made by npm run bench -->";
export const blockEnd = "<!-- /bench -->";

/** The cells whose tables and plots tell the story to somebody who reads no further. */
const shown = ["storm219", "storm219cpu", "node"] as const;

/** In the order of the target table. */
const order = [
  "storm219",
  "storm219cpu",
  "storm2000",
  "kill2s",
  "delete219",
  "strangers",
  "hang",
  "outage",
  "node",
  "sequential",
  "idle",
  "slowsync",
  "shim",
] as const;

/** What is kept of a cell in `bench/results/NAME.json`. */
export type KeptCell = Omit<Cell, "plots" | "figures"> & { readonly facts: Readonly<Record<string, string>> };

/** The newest results as they stand in README.md; `read` gives a file of `bench/results/` or nothing. */
export function readmeBlock(read: (name: string) => string | undefined): string {
  const kept = order.flatMap((name) => {
    const text = read(`${name}.json`);
    return text === undefined ? [] : [JSON.parse(text) as KeptCell];
  });
  const stories = kept.filter(({ name }) => shown.some((one) => one === name));
  return [
    blockBegin,
    "",
    ...promises(kept),
    ...stories.flatMap((cell) => story(cell, read(`${cell.name}.svg`) !== undefined)),
    blockEnd,
  ].join("\n");
}

/** The text with the block of now in the place of the one it has; undefined when it has none. */
export function withBlock(readme: string, block: string): string | undefined {
  const [begin, end] = [readme.indexOf(blockBegin), readme.indexOf(blockEnd)];
  if (begin < 0 || end < begin) return undefined;
  return readme.slice(0, begin) + block + readme.slice(end + blockEnd.length);
}

function promises(kept: readonly KeptCell[]): readonly string[] {
  const rows = kept.flatMap(({ name, verdicts }) => verdicts.map((verdict) => promiseRow(name, verdict)));
  const [first] = kept;
  if (first === undefined) return ["Nothing has been measured yet.", ""];
  const { processor = "", memory = "", kernel = "", date = "" } = first.facts;
  return [
    `Measured by \`npm run bench\` on ${processor}, ${memory}, Linux ${kernel}, ${date}.`,
    "",
    "| promise | seen | | cell |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ];
}

function promiseRow(name: string, { promise, seen, holds }: Verdict): string {
  return `| ${promise} | ${seen} | ${holds ? "✓" : "✗"} | [${name}](bench/results/${name}.md) |`;
}

function story({ name, title, header, rows }: KeptCell, hasPlot: boolean): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    `**${title}**`,
    "",
    ...(hasPlot
      ? [`<img src="bench/results/${name}.svg" alt="${title}: pods attached over time" width="760">`, ""]
      : []),
    line(header),
    line(header.map((_, column) => (column === 0 ? "---" : "---:"))),
    ...rows.map(line),
    "",
  ];
}
