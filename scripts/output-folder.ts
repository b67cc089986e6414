import { accessSync, constants, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../src/base/errors.ts";

/** Makes the folder that a script writes to, before the script has worked for minutes. Throws when nothing can be written there. */
export function makeOutputFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (thrown) {
    throw cannotWrite(folder, thrown);
  }
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "this user may not write there",
  EPERM: "this user may not write there",
  EROFS: "the file system is read-only",
  EEXIST: "it is a file, or lies below one",
  ENOTDIR: "it is a file, or lies below one",
  ENOENT: "no folder can be made there",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
};

/** The error of a write, in words and with the path, which Node's text of a full disk lacks. */
export function cannotWrite(path: string, thrown: unknown): Error {
  const reason = reasons[errnoOf(thrown) ?? ""] ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return new Error(`Cannot write to ${path}: ${reason}; choose another folder with --out`, { cause: thrown });
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
