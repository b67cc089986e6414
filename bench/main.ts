import { testImages } from "../scripts/e2e/test-images.ts";
import { makeReady } from "../scripts/make-ready.ts";
import { cniPlugins } from "../test/peers/cni-plugins.ts";
import { kubernetes } from "../test/peers/kubernetes.ts";
import { multus } from "../test/peers/multus.ts";
import { Bench, type BenchOptions } from "./bench.ts";
import type { Cell } from "./cell.ts";
import { cells, type NamedCell } from "./cells/named-cells.ts";
import { furnishNamespaces, insideFolder, runInside } from "./ground/own-namespaces.ts";
import { keepResults, showResults } from "./keep-results.ts";
import { machineFacts, stolenSince, stolenTicks } from "./machine-facts.ts";
import { asTable, verdictLines } from "./table.ts";

const usage = `Usage: npm run bench [-- OPTION... CELL...]

Measures Levee and Multus in one run on this machine. Needs root.
Without Go there is no API server and no Multus: Levee then reads its pods from a folder, and the tables say so.

Options:
  --list       list the cells and their durations
  --quick      only check that everything runs: few pods, no verdicts, no results kept
  --no-peers   run without Multus and keep no results
  --readme     only write the tables of README.md and docs/bench.md from bench/results

Examples:
  npm run bench
  npm run bench -- storm219 kill2s
  npm run bench -- --no-peers storm219
`;

const flags = ["--quick", "--no-peers"];

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) return print(usage);
  if (args.includes("--list")) return print(list());
  if (args.includes("--readme")) return print(showResults());
  const unknown = args.filter((arg) => !flags.includes(arg) && !cells.some(({ name }) => name === arg));
  if (unknown.length > 0) {
    process.stderr.write(`Error: there is no cell ${unknown.join(", ")}\n\n${usage}\n${list()}`);
    return 2;
  }
  const folder = insideFolder();
  if (folder === undefined) return outside(args);
  furnishNamespaces();
  const options = { isQuick: args.includes("--quick"), withPeers: !args.includes("--no-peers") };
  return measure(folder, chosenCells(args), options);
}

function chosenCells(args: readonly string[]): readonly NamedCell[] {
  const named = cells.filter(({ name }) => args.includes(name));
  return named.length === 0 ? cells : named;
}

/** Makes what needs a network first, because there is none inside the namespaces: the programs of others, and images. */
async function outside(args: readonly string[]): Promise<number> {
  if (!makeReady("bench")) return 1;
  const peers = [await kubernetes(), await cniPlugins()];
  if (!args.includes("--no-peers")) peers.push(await multus("v4.2.2"), await multus("v4.3.0"));
  for (const peer of peers) if ("missing" in peer) print(`${peer.missing}\n`);
  // Without one of those programs the node's cell is left out.
  if (chosenCells(args).some(({ name }) => name === "node") && !peers.some((peer) => "missing" in peer)) testImages();
  // kubectl comes from the same build as the API server.
  const [server] = peers;
  const path = [...(server !== undefined && "folder" in server ? [server.folder] : []), process.env["PATH"] ?? ""].join(
    ":",
  );
  return runInside(import.meta.path, args, { PATH: path });
}

async function measure(folder: string, chosen: readonly NamedCell[], options: BenchOptions): Promise<number> {
  const minutes = chosen.reduce((sum, cell) => sum + cell.minutes, 0);
  print(
    `${chosen.length} cells, about ${Math.ceil(minutes)} minutes${options.withPeers ? "" : " with Multus, less without"}\n`,
  );
  const bench = await Bench.start(folder, options);
  try {
    const facts = {
      ...(await machineFacts()),
      "disk": bench.ground.disk.facts,
      "pods from": bench.ground.source.label,
    };
    print(
      `${Object.entries(facts)
        .map(([key, value]) => `${key}: ${value}`)
        .join("\n")}\n`,
    );
    const done: Cell[] = [];
    for (const [index, named] of chosen.entries()) {
      print(`\n[${index + 1}/${chosen.length}] ${named.name}: ${named.about}\n`);
      const before = stolenTicks();
      const cell = await named.run(bench);
      bench.ground.disk.requireReadAhead();
      print(`\n${asTable(cell)}\n${options.isQuick ? "" : verdictLines(cell)}\n`);
      if (isKept(options)) keepResults(cell, { ...facts, "taken by the host": stolenSince(before) });
      done.push(cell);
    }
    if (isKept(options)) print(showResults());
    return options.isQuick || done.every(({ verdicts }) => verdicts.every(({ holds }) => holds)) ? 0 : 1;
  } finally {
    await bench.stop();
  }
}

/** The pages show only complete results. */
function isKept({ isQuick, withPeers }: BenchOptions): boolean {
  return !isQuick && withPeers;
}

function list(): string {
  return cells.map(({ name, about, minutes }) => `  ${name.padEnd(12)} ${about} (${minutes} min)\n`).join("");
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
