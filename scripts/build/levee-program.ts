import { spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Architecture } from "../debian/pins.ts";
import { bunRuntime } from "./bun-runtime.ts";
import { consolePageFile } from "./console-page.ts";
import { dist, root, type Part } from "./part.ts";

const targets = { amd64: "bun-linux-x64", arm64: "bun-linux-arm64" } as const;
/** What the program is made of, beside its packages; `levee explain` contains the text of the pages. */
export const programSources = [
  "src",
  consolePageFile,
  "docs/errors.md",
  "docs/gate.md",
  "docs/runbooks",
  "package.json",
  "tsconfig.json",
];
export const hostArchitecture: Architecture = process.arch === "arm64" ? "arm64" : "amd64";

/** The daemon and the commands as one program. The same sources give the same bytes, in every folder. */
export function leveePart(architecture: Architecture): Part {
  const isForHere = architecture === hostArchitecture;
  return {
    name: isForHere ? "levee" : `levee for ${architecture}`,
    output: isForHere ? join(dist, "levee") : join(dist, `linux-${architecture}`, "levee"),
    inputs: [...programSources, "package-lock.json"],
    tool: () => `${Bun.version} ${architecture}`,
    build: (to) => compileLevee(root, to, isForHere ? [] : crossOptions(architecture)),
  };
}

/** The runtime that Bun appends the program to is the pinned one; Bun would fetch one without looking at its hash. */
function crossOptions(architecture: Architecture): readonly string[] {
  return [`--target=${targets[architecture]}`, `--compile-executable-path=${bunRuntime(architecture)}`];
}

/** Compiles the sources of a checkout. The name of the file becomes part of the program, its folder does not. */
export function compileLevee(checkout: string, to: string, cross: readonly string[] = []): void {
  // Split where src/main.ts loads late, so that the daemon does not hold the bytecode of the commands in memory.
  const args = ["build", "--compile", "--minify", "--sourcemap", "--bytecode", "--format=esm", "--splitting"];
  // A daemon must not read a .env or bunfig.toml from its working directory.
  const fixed = ["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig", "src/main.ts", "--outfile", to];
  // The bun that runs this script is the pinned one.
  const { status } = spawnSync(process.execPath, [...args, ...cross, ...fixed], {
    cwd: checkout,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`Cannot build levee: bun ended with ${status ?? "a signal"}`);
}
