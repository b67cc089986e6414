import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../base/atomic-file.ts";
import { errnoOf } from "../base/errors.ts";
import { confWorkFolder } from "../config/shim-conf.ts";

/** Puts a file into the conf directory in one step: the runtime, which watches it, sees one rename and never half a file. */
export async function writeConf(folder: string, fileName: string, text: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  await mkdir(workFolder, { mode: 0o700 }).catch(ignoreExisting);
  const temporary = join(workFolder, fileName);
  // What a killed daemon left may have another mode.
  await rm(temporary, { force: true });
  await writeFileAtomically(join(folder, fileName), text, { mode: 0o600, sync: true, temporary });
}

/** Removes what a daemon that was killed while it wrote has left. */
export async function sweepWorkFolder(folder: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  const names = await readdir(workFolder).catch(() => []);
  // What cannot be removed is in nobody's way, and the next write says why.
  for (const name of names) await rm(join(workFolder, name), { force: true, recursive: true }).catch(() => undefined);
}

function ignoreExisting(thrown: unknown): void {
  if (errnoOf(thrown) !== "EEXIST") throw thrown;
}
