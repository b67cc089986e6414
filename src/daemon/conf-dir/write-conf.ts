import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { confWorkFolder } from "../../config/shim-conf.ts";

/** Runtimes read only `.conf`, `.conflist` and `.json`, so they ignore this file. */
const arrivingSuffix = ".arriving";

/**
 * Puts a file into the conf directory, so that the runtime, which watches it, sees one rename and never half a file.
 * The rename must happen inside the directory: a watcher sees a rename from elsewhere as a new file, and containerd
 * ignores new files, so it would keep its old conf until the next write.
 */
export async function writeConf(folder: string, fileName: string, text: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  await mkdir(workFolder, { mode: 0o700 }).catch(ignoreExisting);
  const temporary = join(workFolder, fileName);
  // A file left by a killed daemon may have another mode.
  await rm(temporary, { force: true });
  const arriving = join(folder, `${fileName}${arrivingSuffix}`);
  await writeFileAtomically(arriving, text, { mode: 0o600, sync: true, temporary });
  try {
    await rename(arriving, join(folder, fileName));
  } catch (cause) {
    await rm(arriving, { force: true });
    throw cause;
  }
  await syncFolder(folder);
}

/** Removes what a daemon left that was killed while it wrote. */
export async function sweepWorkFolder(folder: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  const names = await readdir(workFolder).catch(() => []);
  // A leftover does no harm, and the next write reports why it cannot be removed.
  for (const name of names) await rm(join(workFolder, name), { force: true, recursive: true }).catch(() => undefined);
  const arriving = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(arrivingSuffix));
  for (const name of arriving) await rm(join(folder, name), { force: true }).catch(() => undefined);
}

function ignoreExisting(thrown: unknown): void {
  if (errnoOf(thrown) !== "EEXIST") throw thrown;
}
