/**
 * `npm run soak`: pods come and go for an hour while every part fails at some time. Afterwards the daemon's memory and the
 * node are compared with their state before. Runs in its own namespaces, so nothing stays on the machine.
 */
import { writeFileSync } from "node:fs";
import { furnishNamespaces, insideFolder, runInside } from "../bench/ground/own-namespaces.ts";
import { kubernetes } from "../test/peers/kubernetes.ts";
import { allFaults, type FaultName } from "../test/soak/faults.ts";
import { memoryPlot, soakTable } from "../test/soak/soak-report.ts";
import { soak } from "../test/soak/soak.ts";
import { makeReady } from "./make-ready.ts";

const usage = `Usage: npm run soak [-- --minutes N] [--seed N] [--faults LIST] [-o json] [--plot FILE]

Pods come and go at two a second, with faults: every part is killed, the API server is restarted, plugins fail and hang,
the disk is full, the clock steps. At the end memory, namespaces, interfaces, addresses, journal and descriptors must be
as before. Needs root. With Go it uses a real API server, otherwise a folder.

  --minutes N   how long, 3 to 1440 (60)
  --seed N      repeat the faults of an earlier run in the same order
  --faults LIST which faults, separated by commas; all by default:
${faultList()}
  -o json       the figures as JSON on stdout; progress goes to stderr
  --plot FILE   memory over time as SVG
`;

const options: ReadonlySet<string> = new Set(["--minutes", "--seed", "--faults", "-o", "--plot"]);

interface Arguments {
  readonly minutes: number;
  readonly seed: number;
  readonly faults: readonly FaultName[];
  readonly isJson: boolean;
  readonly plot: string | undefined;
}

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("-h") || args.includes("--help")) {
    process.stdout.write(usage);
    return 0;
  }
  const parsed = parse(args);
  if (typeof parsed === "string") {
    process.stderr.write(`Error: ${parsed}\n\n${usage}`);
    return 2;
  }
  const folder = insideFolder();
  if (folder === undefined) return outside(args);
  // The process outside removes this folder if we are killed.
  process.env["TMPDIR"] = folder;
  furnishNamespaces();
  return run(parsed);
}

/** Builds the API server outside of the namespaces, where there is a network. */
async function outside(args: readonly string[]): Promise<number> {
  if (!makeReady("test")) return 1;
  const peer = await kubernetes();
  const bin = "folder" in peer ? `${peer.folder}:` : "";
  return runInside(import.meta.path, args, { PATH: `${bin}${process.env["PATH"] ?? ""}` });
}

async function run({ minutes, seed, faults, isJson, plot }: Arguments): Promise<number> {
  const say = (line: string): void => void (isJson ? process.stderr : process.stdout).write(`${line}\n`);
  const outcome = await soak({ minutes, seed, faults, say });
  if (plot !== undefined) writeFileSync(plot, memoryPlot(outcome));
  process.stdout.write(isJson ? `${JSON.stringify(outcome, undefined, 2)}\n` : `\n${soakTable(outcome)}\n`);
  return outcome.problems.length === 0 ? 0 : 1;
}

/** The parsed arguments, or a problem with them. */
function parse(args: readonly string[]): Arguments | string {
  const given = new Map<string, string>();
  for (let at = 0; at < args.length; at += 2) {
    const [name = "", value] = args.slice(at, at + 2);
    if (!options.has(name) || value === undefined) return `cannot read ${args.slice(at, at + 2).join(" ")}`;
    given.set(name, value);
  }
  const { "--minutes": minutes, "--seed": seed, "-o": output, "--plot": plot } = Object.fromEntries(given);
  const faults = faultsOf(given.get("--faults") ?? "all");
  if (typeof faults === "string") return faults;
  return checked({
    faults,
    minutes: Number(minutes ?? 60),
    seed: Number(seed ?? Math.floor(Math.random() * 2 ** 31)),
    isJson: output === "json",
    plot,
  });
}

/** The named faults, or a problem with their names. */
function faultsOf(list: string): readonly FaultName[] | string {
  const names = list === "all" ? allFaults : list.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !allFaults.some((known) => known === name));
  if (unknown !== undefined) return `there is no fault ${JSON.stringify(unknown)}; there are ${allFaults.join(", ")}`;
  return allFaults.filter((name) => names.includes(name));
}

function faultList(): string {
  return `                ${allFaults.join(", ")}`.replaceAll(/(.{60,100}?,) /gu, "$1\n                ");
}

function checked(parsed: Arguments): Arguments | string {
  if (!(parsed.minutes >= 3 && parsed.minutes <= 1_440))
    return `the number of minutes must be between 3 and 1440: current value is ${parsed.minutes}`;
  return Number.isSafeInteger(parsed.seed)
    ? parsed
    : `the seed must be a whole number: current value is ${parsed.seed}`;
}
