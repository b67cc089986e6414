import { lstat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { usageFailure } from "../failure.ts";
import { readVendorLock, vendorLockName } from "./vendor-lock.ts";

/** The folder that paths are relative to: the one given, else the nearest with a lock file, else the repository's top. */
export async function findVendorRoot(given: string | undefined): Promise<string> {
  if (given !== undefined) {
    if (await isThere(given, "folder")) return resolve(given);
    throw usageFailure(`Cannot use -C ${given}: there is no such folder`, "-C FOLDER, the top of your repository");
  }
  const folders = upwards(resolve("."));
  for (const name of [vendorLockName, ".git"])
    for (const folder of folders) if (await isThere(join(folder, name), "any")) return folder;
  throw usageFailure(
    `Cannot find the repository: neither this folder nor one above it has ${vendorLockName} or .git`,
    "run it inside the repository, or name its top with -C FOLDER",
  );
}

/** The digests that the nearest lock file above a manifest has for images by tag. */
export async function pinsAbove(path: string): Promise<ReadonlyMap<string, string>> {
  for (const folder of upwards(resolve(path))) {
    if (!(await isThere(join(folder, vendorLockName), "any"))) continue;
    const images = (await readVendorLock(folder)).flatMap((file) => file.images);
    return new Map(
      images.flatMap(({ image, digest }): [string, string][] => (digest === undefined ? [] : [[image, digest]])),
    );
  }
  return new Map();
}

function upwards(from: string): readonly string[] {
  const parent = dirname(from);
  return parent === from ? [from] : [from, ...upwards(parent)];
}

async function isThere(path: string, kind: "folder" | "any"): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined);
  return facts !== undefined && (kind === "any" || facts.isDirectory());
}
