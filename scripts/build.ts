/**
 * Builds dist/levee-shim (Rust, static) and dist/levee (the daemon and the commands, one executable).
 * A part whose inputs are unchanged is left alone. `bun scripts/build.ts [--shim-only]`
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { elfProblem } from "./build/elf.ts";
import { inputsHash } from "./build/inputs.ts";
import { ensurePrerequisites } from "./prerequisites.ts";

const root = resolve(import.meta.dirname, "..");
const dist = join(root, "dist");
const recordFile = join(dist, ".build.json");
/** The runtime starts the shim for every CNI call, and every node has a copy. */
const shimBytesMax = 1.5 * 1024 * 1024;

interface Part {
  readonly name: string;
  readonly output: string;
  /** Files and folders whose content decides whether to build again. */
  readonly inputs: readonly string[];
  /** The tool whose version is part of the inputs. */
  readonly tool: readonly [string, ...string[]];
  /** Writes the program to the path, or throws. */
  build(to: string): void;
}

const parts: readonly Part[] = [
  {
    name: "levee-shim",
    output: join(dist, "levee-shim"),
    inputs: ["shim/Cargo.toml", "shim/Cargo.lock", "shim/.cargo", "shim/build.rs", "shim/src"],
    tool: ["cargo", "--version"],
    build: buildShim,
  },
  {
    name: "levee",
    output: join(dist, "levee"),
    // `levee explain` contains the text of these pages.
    inputs: ["src", "docs/errors.md", "docs/runbooks", "package.json", "package-lock.json", "tsconfig.json"],
    tool: ["bun", "--version"],
    build: buildLevee,
  },
];

/** On the PATH beside `levee` they add `kubectl levee`. */
const pluginFiles = ["kubectl-levee", "kubectl_complete-levee"];

/** Builds the parts that have changed. Throws if a part cannot be built or breaks a promise. */
export function build(options: { readonly shimOnly: boolean }): void {
  mkdirSync(dist, { recursive: true });
  for (const part of parts) {
    if (options.shimOnly && part.name !== "levee-shim") continue;
    const hash = inputsHash(root, part.inputs, version(part.tool));
    if (existsSync(part.output) && readRecord()[part.name] === hash) {
      console.log(`${part.name}: up to date`);
      continue;
    }
    const startedMs = performance.now();
    // Built beside and renamed into place: a running program cannot be overwritten, and two builds may run at once.
    const fresh = `${part.output}.${process.pid}`;
    try {
      part.build(fresh);
      renameSync(fresh, part.output);
    } finally {
      rmSync(fresh, { force: true });
    }
    writeFileSync(recordFile, `${JSON.stringify({ ...readRecord(), [part.name]: hash }, undefined, 2)}\n`);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    console.log(`${part.name}: built in ${seconds} s, ${statSync(part.output).size} bytes`);
  }
  for (const name of pluginFiles) copyFileSync(join(root, "deploy/plugin", name), join(dist, name));
}

function buildShim(to: string): void {
  const args = ["build", "--release", "--offline", "--message-format=json-render-diagnostics"];
  const { status, stdout } = spawnSync("cargo", args, {
    cwd: join(root, "shim"),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`Cannot build the shim: cargo ended with ${status ?? "a signal"}`);
  const executable = /"executable":"([^"]*\/levee-shim)"/.exec(stdout)?.[1];
  if (executable === undefined) throw new Error("Cannot build the shim: cargo made no program named levee-shim");
  const problem = elfProblem(readFileSync(executable), shimBytesMax);
  if (problem !== undefined) throw new Error(`The shim breaks its promise: ${problem}`);
  copyFileSync(executable, to);
}

function buildLevee(to: string): void {
  // Split where src/main.ts loads late, so that the daemon does not hold the bytecode of the commands in memory.
  const args = ["build", "--compile", "--minify", "--sourcemap", "--bytecode", "--format=esm", "--splitting"];
  // A daemon must not read a .env or bunfig.toml from its working directory.
  const fixed = ["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig", "src/main.ts", "--outfile", to];
  const { status } = spawnSync(bun(), [...args, ...fixed], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  // The program contains its source maps, so the copies beside it are not needed.
  for (const name of readdirSync(dirname(to)))
    if (name.endsWith(".map")) rmSync(join(dirname(to), name), { force: true });
  if (status !== 0) throw new Error(`Cannot build levee: bun ended with ${status ?? "a signal"}`);
}

/** The bun that runs this script is the pinned one. */
function bun(): string {
  return process.execPath;
}

function version([command, ...args]: readonly [string, ...string[]]): string {
  const { stdout, error } = spawnSync(command === "bun" ? bun() : command, args, { encoding: "utf8" });
  if (error !== undefined) throw new Error(`Cannot start ${command}: ${error.message}`);
  return stdout.trim();
}

function readRecord(): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(readFileSync(recordFile, "utf8"));
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    // Without a readable record everything is built again.
    return {};
  }
}

if (import.meta.main) {
  if (!ensurePrerequisites("build")) process.exit(1);
  try {
    build({ shimOnly: process.argv.includes("--shim-only") });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : String(thrown));
    process.exit(1);
  }
}
