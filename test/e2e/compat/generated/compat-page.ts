import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Tally } from "./tally.ts";

const page = join(import.meta.dir, "../../../../docs/compat.md");
const [begin, end] = ["<!-- generated cases -->", "<!-- /generated cases -->"];

/** The first cells of the table "Different on purpose". */
export async function purposefulRows(): Promise<readonly string[]> {
  const text = await readFile(page, "utf8");
  const table = text.slice(text.indexOf("## Different on purpose"));
  return [...table.matchAll(/^\| (.+?) \| .+ \|$/gmu)].map(([, cell = ""]) => cell);
}

/** The counts as the page shows them. */
export function countsText(
  tally: Tally,
  migrations: { readonly there: number; readonly back: number },
  seed: number,
): string {
  const kinds = [...tally.kinds].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const sum = (key: "cases" | "served" | "refused" | "apart"): number =>
    kinds.reduce((total, [, counts]) => total + counts[key], 0);
  const rows = [...tally.rows].toSorted(([, a], [, b]) => b - a);
  return [
    begin,
    `With the seed ${seed}:`,
    "",
    "| what is odd | cases | both serve | both refuse | one refuses, on purpose |",
    "| --- | --- | --- | --- | --- |",
    ...kinds.map(
      ([kind, { cases, served, refused, apart }]) => `| ${kind} | ${cases} | ${served} | ${refused} | ${apart} |`,
    ),
    `| all | ${sum("cases")} | ${sum("served")} | ${sum("refused")} | ${sum("apart")} |`,
    "",
    `Migrations with real plugins: ${migrations.there} pods attached by Multus and deleted by Levee, ${migrations.back} the other way round; nothing is left.`,
    "",
    "| different on purpose | in cases |",
    "| --- | --- |",
    ...rows.map(([row, count]) => `| ${row} | ${count} |`),
    end,
  ].join("\n");
}

/** The counts on the page, or nothing when it has none. */
export async function countsOnPage(): Promise<string> {
  const text = await readFile(page, "utf8");
  return text.slice(text.indexOf(begin), text.indexOf(end) + end.length);
}

/** On a busy machine some cases end otherwise: Multus and Levee both have time limits. */
const nearness = { share: 0.05, cases: 5 };

/** The rows that only one text has, and those whose counts are far from each other. Their order does not matter. */
export function rowsApart(counts: string, others: string): readonly string[] {
  const [here, there] = [rowsOf(counts), rowsOf(others)];
  const names = [...new Set([...here.keys(), ...there.keys()])];
  return names.filter((name) => {
    const [left, right] = [here.get(name), there.get(name)];
    return left === undefined || right === undefined || !left.every((count, at) => isNear(count, right[at] ?? 0));
  });
}

function isNear(left: number, right: number): boolean {
  return Math.abs(left - right) <= Math.max(nearness.cases, nearness.share * Math.max(left, right));
}

/** The counts of each row, by the row's words. */
function rowsOf(text: string): ReadonlyMap<string, readonly number[]> {
  const rows = [...text.matchAll(/^\| (.+?) ((?:\| \d+ )+)\|$/gmu)];
  return new Map(rows.map(([, name = "", cells = ""]) => [name, [...cells.matchAll(/\d+/gu)].map(Number)]));
}

export async function writeCounts(counts: string): Promise<void> {
  const [text, old] = [await readFile(page, "utf8"), await countsOnPage()];
  await writeFile(
    page,
    text.replace(old, () => counts),
  );
}
