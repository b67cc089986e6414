import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "./cell.ts";
import { shownBlocks, withBlock } from "./result-blocks.ts";
import { asTable, verdictLines } from "./table.ts";

const root = join(import.meta.dir, "..");
const folder = join(root, "bench/results");

/** Writes a cell as figures, as a page and as plots. */
export function keepResults(cell: Cell, facts: Readonly<Record<string, string>>): void {
  mkdirSync(folder, { recursive: true });
  const { plots, ...told } = cell;
  writeFileSync(
    join(folder, `${cell.name}.json`),
    `${withShortLists(JSON.stringify({ facts, ...told }, undefined, 2))}\n`,
  );
  writeFileSync(join(folder, `${cell.name}.md`), `${asTable(cell)}\n${verdictLines(cell)}\n${factLines(facts)}\n`);
  for (const [name, svg] of Object.entries(plots)) writeFileSync(join(folder, `${name}.svg`), svg);
}

/** Writes the kept results into the pages that show them. */
export function showResults(): string {
  const read = (name: string): string | undefined =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined;
  for (const { file, block } of shownBlocks) {
    const path = join(root, file);
    const page = withBlock(readFileSync(path, "utf8"), block(read));
    if (page === undefined) throw new Error(`${file} has no place for the results`);
    writeFileSync(path, page);
  }
  return "README.md and docs/bench.md show the results of bench/results\n";
}

/** Puts lists of numbers on one line, because a storm has one number per pod. */
function withShortLists(json: string): string {
  return json.replaceAll(/\[[\d\s.,-]+\]/gu, (list) => list.replaceAll(/\s+/gu, " "));
}

function factLines(facts: Readonly<Record<string, string>>): string {
  return `\n${Object.entries(facts)
    .map(([key, value]) => `${key}: ${value}`)
    .join("; ")}`;
}
