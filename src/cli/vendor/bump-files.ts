import { CommandFailure, usageFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";
import { changeOf, type VendorChange } from "./add-file.ts";
import { fetchSource, type FetchedSource, type SourceOptions } from "./fetch-source.ts";
import { headerOf, keepSources, readKept, type KeptSource } from "./keep-file.ts";
import { chooseLocked, readVendorLock, type VendoredFile } from "./vendor-lock.ts";

interface BumpOrder extends SourceOptions {
  readonly root: string;
  /** Files, or folders for all locked files below them. */
  readonly paths: readonly string[];
  /** The new version, where the old one is in the address. */
  readonly to?: string;
  readonly url?: string;
}

interface Bump {
  readonly file: VendoredFile;
  readonly address: string;
}

/** Fetches new versions. Either all files move or none does: an operator and its resource belong together. */
export async function bumpFiles(shell: Shell, order: BumpOrder): Promise<readonly VendorChange[]> {
  const bumps = plannedBumps(chooseLocked(await readVendorLock(order.root), order.paths), order);
  const kept: KeptSource[] = [];
  for (const { file, address } of bumps) {
    const source = await fetchSource(shell, address, order);
    if (source.url === file.url && source.sha256 !== file.sha256) throw movedUnder(file, source);
    kept.push({ path: file.path, source, header: await headerHere(order.root, file, source) });
  }
  await keepSources(order.root, kept);
  return kept.map(({ path, source }, index) =>
    changeOf(path, source, source.sha256 === bumps[index]?.file.sha256 ? "unchanged" : "bumped"),
  );
}

function plannedBumps(files: readonly VendoredFile[], { to, url, from, sha256 }: BumpOrder): readonly Bump[] {
  if ((to === undefined) === (url === undefined))
    throw usageFailure("Cannot bump: give either --to VERSION or --url URL", "levee vendor bump apps/cdi --to v1.66.0");
  const single = [
    url === undefined ? "" : "--url",
    from === undefined ? "" : "--from",
    sha256 === undefined ? "" : "--sha256",
  ];
  const [option] = single.filter((name) => name !== "");
  if (option !== undefined && files.length !== 1)
    throw usageFailure(
      `Cannot use ${option} for ${files.length} files: it is about one`,
      `name one file, or leave ${option} out`,
    );
  return files.map((file) => ({ file, address: url ?? addressOf(file, to ?? "") }));
}

const versionPattern = /v?\d+\.\d+\.\d+(?:-(?:alpha|beta|rc)[.\d]*)?/gu;

/** The address with another version in it. Whether it has a `v` in front is the address's own custom. */
function addressOf({ path, url }: Pick<VendoredFile, "path" | "url">, to: string): string {
  if (!/^v?\d+\.\d+\.\d+\S*$/u.test(to))
    throw usageFailure(`Cannot bump to ${JSON.stringify(to)}: it is no version`, "--to v1.66.0");
  // Not in the host, which may be four numbers itself.
  const { origin } = new URL(url);
  const rest = url.slice(origin.length);
  const [version, ...others] = new Set(rest.match(versionPattern));
  if (version === undefined || others.length > 0)
    throw usageFailure(
      `Cannot bump ${path}: its address has ${version === undefined ? "no version" : "several versions"} (${url})`,
      `levee vendor bump ${path} --url URL`,
    );
  const bare = to.replace(/^v/u, "");
  return origin + rest.replaceAll(version, version.startsWith("v") ? `v${bare}` : bare);
}

/** What people wrote above it. A file that was changed below its header is not overwritten. */
async function headerHere(root: string, file: VendoredFile, source: FetchedSource): Promise<string> {
  const kept = await readKept(root, file.path);
  if (kept === undefined) return "";
  // The second is that of a run which was killed before it wrote the lock.
  const header = headerOf(kept, file) ?? headerOf(kept, source);
  if (header !== undefined) return header;
  throw new CommandFailure(
    "vendor-changed",
    `Cannot bump ${file.path}: it was changed here, and the change would be lost`,
    {
      remedy: `git diff, git log -p ${file.path}; put the change into a kustomization, git restore the file, and try again`,
    },
  );
}

function movedUnder(file: VendoredFile, source: FetchedSource): CommandFailure {
  return new CommandFailure(
    "vendor-locked",
    `Cannot bump ${file.path}: its bytes changed under one address: ${file.sha256} is locked, ${source.sha256} came`,
    {
      remedy: "ask its authors why; if you accept the new bytes, remove the entry from the lock file and add it again",
    },
  );
}
