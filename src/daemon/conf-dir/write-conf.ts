import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder, writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { confWorkFolder } from "../../config/shim-conf.ts";

/** Never `.conf`, `.conflist` or `.json`: no runtime reads a file of this name. */
const arrivingSuffix = ".arriving";

/**
 * Puts a file into the conf directory: the runtime, which watches it, sees one rename and never half a file.
 * The rename must happen inside the directory. What is renamed into it from elsewhere is a new file to whoever watches,
 * and containerd ignores new files, so it would go on with the conf it has until somebody else writes there.
 */
export async function writeConf(folder: string, fileName: string, text: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  await mkdir(workFolder, { mode: 0o700 }).catch(ignoreExisting);
  const temporary = join(workFolder, fileName);
  // What a killed daemon left may have another mode.
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

/** Removes what a daemon that was killed while it wrote has left. */
export async function sweepWorkFolder(folder: string): Promise<void> {
  const workFolder = join(folder, confWorkFolder);
  const names = await readdir(workFolder).catch(() => []);
  // What cannot be removed is in nobody's way, and the next write says why.
  for (const name of names) await rm(join(workFolder, name), { force: true, recursive: true }).catch(() => undefined);
  const arriving = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(arrivingSuffix));
  for (const name of arriving) await rm(join(folder, name), { force: true }).catch(() => undefined);
}

function ignoreExisting(thrown: unknown): void {
  if (errnoOf(thrown) !== "EEXIST") throw thrown;
}
