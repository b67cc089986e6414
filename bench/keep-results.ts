import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cell } from "./cell.ts";
import { readmeBlock, withBlock } from "./readme-block.ts";
import { asTable, verdictLines } from "./table.ts";

const root = join(import.meta.dir, "..");
const folder = join(root, "bench/results");

/** A cell as figures, as a page and as plots. */
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

/** Puts the results that are kept into README.md. */
export function showResults(): string {
  const path = join(root, "README.md");
  const block = readmeBlock((name) =>
    existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8") : undefined,
  );
  const readme = withBlock(readFileSync(path, "utf8"), block);
  if (readme === undefined) throw new Error("README.md has no place for the results");
  writeFileSync(path, readme);
  return "README.md shows the results of bench/results\n";
}

/** Lists of numbers on one line: a storm has one number per pod. */
function withShortLists(json: string): string {
  return json.replaceAll(/\[[\d\s.,-]+\]/gu, (list) => list.replaceAll(/\s+/gu, " "));
}

function factLines(facts: Readonly<Record<string, string>>): string {
  return `\n${Object.entries(facts)
    .map(([key, value]) => `${key}: ${value}`)
    .join("; ")}`;
}
