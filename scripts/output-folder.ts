import { accessSync, constants, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../src/base/errors.ts";
import { writeProblem } from "../src/cli/registry/write-problem.ts";

/** Makes the folder that a script writes to, before the script has worked for minutes. Throws when nothing can be written there. */
export function makeOutputFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw cannotWrite(folder, thrown);
  }
}

export function cannotWrite(path: string, thrown: unknown): Error {
  return new Error(`Cannot write to ${path}: ${writeProblem(thrown)}; choose another folder with --out`, {
    cause: thrown,
  });
}

/** Removes unfinished files of killed runs. The first group of the pattern is the number of the process that made them. */
export function removeUnfinished(folder: string, pattern: RegExp): void {
  for (const name of readdirSync(folder)) {
    const pid = pattern.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // A process of another user.
    return errnoOf(thrown) === "EPERM";
  }
}
