import type { Cell, Verdict } from "./cell.ts";

/** The results that the pages show. A check compares the pages with `bench/results/`. */
export const shownBlocks = [
  { file: "README.md", block: numbersBlock },
  { file: "README.md", block: stormBlock },
  { file: "docs/bench.md", block: resultsBlock },
] as const;

/** README.md begins with the first promise of these cells. Each has its text. */
const numbers = {
  storm219: "219 pods at once, with a memory limit of 50Mi",
  kill2s: "219 pods while the daemon is killed every 2 s",
  idle: "Memory of an idle daemon with 250 pods and 50 networks",
} as const;
/** The cell whose table and plot README.md shows. */
const first = "storm219";
/** The cells whose tables and plots docs/bench.md shows. */
const shown = ["storm219", "storm219cpu", "node", "sim"] as const;
/** Plots without a table of pods, with their texts. */
const plots = {
  parts: "Where the time of one ADD goes: the plugins alone, Levee with built-in plugins and with programs, Multus",
  sequential: "ADD and DEL of one pod on two networks: directly, through Levee and through Multus",
  shim: "One CNI call with nothing behind it: levee-shim and multus-shim",
} as const;

/** In the order of the target table. */
const order = [
  "storm219",
  "storm219cpu",
  "storm900",
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
  "sim",
] as const;

/** A cell as `bench/results/NAME.json` keeps it. */
export type KeptCell = Omit<Cell, "plots" | "figures"> & { readonly facts: Readonly<Record<string, string>> };

/** Gives the text of a file of `bench/results/`, or undefined. */
type Read = (name: string) => string | undefined;

/** Three numbers for a reader in a hurry. */
export function numbersBlock(read: Read): string {
  const lines = Object.entries(numbers).flatMap(([name, about]) => {
    const seen = keptCell(read, name)?.verdicts[0]?.seen;
    return seen === undefined ? [] : [`- ${about}: **${seen}**`];
  });
  return block("numbers", lines.length === 0 ? [notMeasured] : lines);
}

export function stormBlock(read: Read): string {
  const cell = keptCell(read, first);
  return block("storm", cell === undefined ? [notMeasured] : [...story(cell, read, ""), "", measuredOn(cell)]);
}

/** Every promise, and the tables and plots of the storms. */
export function resultsBlock(read: Read): string {
  const kept = order.flatMap((name) => keptCell(read, name) ?? []);
  const stories = kept.filter(({ name }) => shown.some((one) => one === name));
  return block("results", [
    ...promises(kept),
    ...stories.flatMap((cell) => ["", `## ${cell.title}`, "", ...story(cell, read, "../")]),
    ...Object.entries(plots).flatMap(([name, text]) =>
      read(`${name}.svg`) === undefined ? [] : ["", `## ${text}`, "", image(name, text, "../")],
    ),
  ]);
}

function block(name: string, lines: readonly string[]): string {
  return [`<!-- bench ${name}: made by npm run bench -->`, "", ...lines, "", `<!-- /bench ${name} -->`].join("\n");
}

function keptCell(read: Read, name: string): KeptCell | undefined {
  const text = read(`${name}.json`);
  return text === undefined ? undefined : (JSON.parse(text) as KeptCell);
}

/** The text with its block replaced by the current one; undefined if it has no block. */
export function withBlock(page: string, fresh: string): string | undefined {
  const [firstLine = ""] = fresh.split("\n", 1);
  const lastLine = fresh.slice(fresh.lastIndexOf("\n") + 1);
  const [begin, end] = [page.indexOf(firstLine), page.indexOf(lastLine)];
  if (begin < 0 || end < begin) return undefined;
  return page.slice(0, begin) + fresh + page.slice(end + lastLine.length);
}

const notMeasured = "Nothing has been measured yet.";

function measuredOn({ facts }: KeptCell): string {
  const { processor = "", memory = "", kernel = "", date = "" } = facts;
  return `Measured by \`npm run bench\` on ${processor}, ${memory}, Linux ${kernel}, ${date}.`;
}

function promises(kept: readonly KeptCell[]): readonly string[] {
  const rows = kept.flatMap(({ name, verdicts }) => verdicts.map((verdict) => promiseRow(name, verdict)));
  const [newest] = kept;
  if (newest === undefined) return [notMeasured];
  return [measuredOn(newest), "", "| promise | seen | | cell |", "| --- | --- | --- | --- |", ...rows];
}

function promiseRow(name: string, { promise, seen, holds }: Verdict): string {
  return `| ${promise} | ${seen} | ${holds ? "✓" : "✗"} | [${name}](../bench/results/${name}.md) |`;
}

/** A plot, if there is one, and a table; `up` leads from the page to the root. */
function story({ name, title, header, rows }: KeptCell, read: Read, up: string): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [
    ...(read(`${name}.svg`) === undefined ? [] : [image(name, `${title}: pods attached over time`, up), ""]),
    line(header),
    line(header.map((_, column) => (column === 0 ? "---" : "---:"))),
    ...rows.map(line),
  ];
}

function image(name: string, text: string, up: string): string {
  return `<img src="${up}bench/results/${name}.svg" alt="${text}" width="760">`;
}
