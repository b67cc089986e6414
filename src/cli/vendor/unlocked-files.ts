import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readRegularFile } from "../../base/regular-file.ts";
import { vendoredBytesMax } from "./download.ts";
import { vendorLockName } from "./vendor-lock.ts";
import { sourceInHeader } from "./vendored-header.ts";
import type { VerifiedFile } from "./verify-files.ts";

/** A GitOps repository has some hundred manifests. The search ends at this many, since it also runs in hooks. */
const filesMax = 20_000;
const skipped: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Files whose header says that they are vendored, and that the lock does not have: with the lock, their proof got lost. */
export async function unlockedFiles(root: string, locked: ReadonlySet<string>): Promise<readonly VerifiedFile[]> {
  const found: VerifiedFile[] = [];
  for (const path of await manifestsBelow(root)) {
    if (locked.has(path)) continue;
    const url = await sourceOf(join(root, path));
    if (url === undefined) continue;
    found.push({
      path,
      url,
      result: "unlocked",
      message: `${path} has the header of a vendored file, and ${vendorLockName} has no entry of it`,
      remedy: `git log -p ${vendorLockName}; or levee vendor add ${url} --as ${path}; a file of your own has no such header`,
      images: [],
    });
  }
  return found;
}

async function manifestsBelow(root: string): Promise<readonly string[]> {
  const files: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined && files.length < filesMax; folder = folders.pop()) {
    // Links are not followed: they could lead out of the repository.
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(path);
      else if (entry.isFile() && /\.ya?ml$/u.test(entry.name)) files.push(path);
    }
  }
  return files.toSorted();
}

async function sourceOf(file: string): Promise<string | undefined> {
  const content = await readRegularFile(file, { bytesMax: vendoredBytesMax, followLinks: false }).catch(
    () => undefined,
  );
  return content === undefined ? undefined : sourceInHeader(new TextDecoder().decode(content.subarray(0, 65_536)));
}
