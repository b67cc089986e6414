import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { inputsHash } from "./inputs.ts";

export const root = resolve(import.meta.dirname, "../..");
export const dist = join(root, "dist");
const recordFile = join(dist, ".build.json");

/** A program that is built when its inputs have changed. */
export interface Part {
  readonly name: string;
  readonly output: string;
  /** Files and folders whose content decides whether to build again. */
  readonly inputs: readonly string[];
  /** The version of the tools, which is an input too. */
  tool(): string;
  /** Writes the program to the path, or throws. */
  build(to: string): void;
}

/** Builds a part unless it is up to date. */
export function buildPart(part: Part): void {
  const hash = inputsHash(root, part.inputs, part.tool());
  if (existsSync(part.output) && readRecord()[part.name] === hash) {
    console.log(`${part.name}: up to date`);
    return;
  }
  const startedMs = performance.now();
  mkdirSync(dirname(part.output), { recursive: true });
  // Built beside and renamed into place: a running program cannot be overwritten, and two builds may run at once. Only the
  // folder has another name, because Bun writes the name of the file into the program.
  const folder = mkdtempSync(join(dirname(part.output), ".build-"));
  try {
    const fresh = join(folder, basename(part.output));
    part.build(fresh);
    renameSync(fresh, part.output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(recordFile, `${JSON.stringify({ ...readRecord(), [part.name]: hash }, undefined, 2)}\n`);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${part.name}: built in ${seconds} s, ${statSync(part.output).size} bytes`);
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
