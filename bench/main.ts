import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { barChart } from "./bar-chart.ts";
import { sequential } from "./cells/sequential.ts";
import { shimCall } from "./cells/shim-call.ts";
import { machineFacts } from "./machine-facts.ts";
import type { Cell } from "./cell.ts";
import { asTable, verdictLines } from "./table.ts";

/** The measurements by name, in the order in which they run. */
const cells: Readonly<Record<string, () => Promise<Cell>>> = { shim: shimCall, sequential };

const usage = `Usage: npm run bench [-- CELL...]

Measures Levee beside what it is compared with, all in one run on this machine.
Cells: ${Object.keys(cells).join(", ")} (all when none is named)

Examples:
  npm run bench
  npm run bench -- shim sequential
`;

process.exitCode = await main(process.argv.slice(2));

async function main(names: readonly string[]): Promise<number> {
  if (names.includes("--help") || names.includes("-h")) {
    process.stdout.write(usage);
    return 0;
  }
  const unknown = names.filter((name) => !Object.hasOwn(cells, name));
  if (unknown.length > 0) {
    process.stderr.write(`Error: there is no cell ${unknown.join(", ")}\n\n${usage}`);
    return 2;
  }
  const facts = await machineFacts();
  process.stdout.write(
    `${Object.entries(facts)
      .map(([key, value]) => `${key}: ${value}`)
      .join("\n")}\n`,
  );
  const done: Cell[] = [];
  for (const [name, run] of Object.entries(cells)) {
    if (names.length > 0 && !names.includes(name)) continue;
    const cell = await run();
    process.stdout.write(`\n${asTable(cell)}\n${verdictLines(cell)}\n`);
    await keep(cell, facts);
    done.push(cell);
  }
  return done.every((cell) => cell.verdicts.every((verdict) => verdict.holds)) ? 0 : 1;
}

async function keep(cell: Cell, facts: Readonly<Record<string, string>>): Promise<void> {
  const folder = join(import.meta.dir, "results");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${cell.name}.json`), `${JSON.stringify({ facts, ...cell }, undefined, 2)}\n`);
  await writeFile(join(folder, `${cell.name}.svg`), barChart(cell));
  await writeFile(join(folder, `${cell.name}.md`), `${asTable(cell)}\n${verdictLines(cell)}\n`);
}
