import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { writeProblem } from "./write-problem.ts";
import { CommandFailure } from "../failure.ts";

interface NewFile {
  /** Relative to the folder. */
  readonly path: string;
  readonly text: string;
}

/** Writes files into a folder. All of them are on the disk before the first takes its place, so a full disk changes nothing. */
export async function writeTogether(folder: string, files: readonly NewFile[]): Promise<void> {
  let isOurs = false;
  const fresh: string[] = [];
  try {
    // The topmost folder that was made, if any.
    isOurs = (await mkdir(folder, { recursive: true })) !== undefined;
    for (const { path, text } of files) {
      const place = join(folder, path);
      await refuseFolder(place);
      await mkdir(dirname(place), { recursive: true });
      fresh.push(freshOf(place));
      await writeFileAtomically(freshOf(place), text, { mode: 0o644, sync: false });
    }
    for (const { path } of files) await rename(freshOf(join(folder, path)), join(folder, path));
  } catch (thrown) {
    for (const file of isOurs ? [folder] : fresh) await rm(file, { recursive: true, force: true });
    throw thrown instanceof CommandFailure ? thrown : cannotWrite(folder, thrown);
  }
}

function freshOf(place: string): string {
  return `${place}.new`;
}

async function refuseFolder(place: string): Promise<void> {
  const facts = await stat(place).catch(() => undefined);
  if (facts?.isDirectory() !== true) return;
  throw new CommandFailure("folder-unwritable", `Cannot write ${place}: it is a folder`, {
    remedy: "choose another folder with --to",
  });
}

function cannotWrite(folder: string, cause: unknown): CommandFailure {
  return new CommandFailure("folder-unwritable", `Cannot write to ${folder}: ${writeProblem(cause)}`, {
    remedy: "nothing was written; choose another folder with --to",
    cause,
  });
}
