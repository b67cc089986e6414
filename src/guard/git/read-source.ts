import { foreignText } from "../detect/foreign-text.ts";
import type { ApplicationSource, GitFileFacts } from "../facts/world.ts";
import type { GitMirror } from "./git-mirror.ts";
import type { GitMirrors } from "./git-mirrors.ts";
import { GitProblem } from "./git-problem.ts";
import { isBranchAllowed, isBranchName, isPathAllowed } from "./git-repository.ts";
import { sourceFolder } from "./source-folder.ts";
import { isPlainFile, type TreeEntry } from "./tree-entry.ts";
import { fileBytesMax } from "./yaml-field.ts";

/** People maintain fewer manifests per folder; larger folders are generated. */
const filesMax = 200;
const manifest = /\.(?:ya?ml|json)$/;
/** With one of these files Argo CD does not treat a folder as plain manifests. */
const otherTools = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization|Chart\.yaml)$/;

/** Contents that are already known, by git's hash. */
type KnownBlobs = ReadonlyMap<string, Uint8Array>;

/** The current manifests of an Application that contain a DaemonSet. */
export async function readSource(
  mirrors: GitMirrors,
  source: ApplicationSource,
  known: KnownBlobs,
  signal: AbortSignal,
): Promise<readonly GitFileFacts[]> {
  const mirror = mirrors.find(source.repository);
  if (mirror === undefined) throw notConfigured(source);
  const folder = sourceFolder(source.path);
  if (folder === undefined || !mayRead(mirror, folder))
    throw new GitProblem("refused", `the settings do not allow its folder "${foreignText(source.path, 100)}"`);
  if (!["", "HEAD"].includes(source.revision) && !isBranchName(source.revision)) throw noBranch(source);
  return mirror.exclusive(async () => {
    const tip = await mirror.tip(source.revision, signal);
    if (tip === undefined) throw noBranch(source);
    if (!isBranchAllowed(mirror.repository, tip.branch))
      throw new GitProblem("refused", `the settings do not allow its branch "${foreignText(tip.branch, 100)}"`);
    const commit = await mirror.fetch(tip.branch, 1, signal);
    const entries = await mirror.list(commit, folder === "" ? "" : `${folder}/`, source.isRecursive === true);
    const blobs = await contentsOf(mirror, manifestsOf(entries, folder, mirror), known, signal);
    if (blobs.length === 0) throw new GitProblem("content", `no manifest in its folder "${folder}" has a DaemonSet`);
    return blobs.map(({ entry, bytes }) => ({
      repository: source.repository,
      revision: source.revision,
      ref: tip.branch,
      path: entry.path,
      blobSha: entry.sha,
      bytes,
      ...(mirror.repository.isDirect ? { isDirect: true as const } : {}),
    }));
  });
}

/** A parent of allowed paths may be listed; only the allowed files in it are read. */
function mayRead({ repository }: GitMirror, folder: string): boolean {
  return (
    isPathAllowed(repository, folder) || repository.paths.some((path) => folder === "" || path.startsWith(`${folder}/`))
  );
}

function manifestsOf(entries: readonly TreeEntry[], folder: string, { repository }: GitMirror): readonly TreeEntry[] {
  const other = entries.find(({ path }) => otherTools.test(path));
  if (other !== undefined)
    throw new GitProblem("content", `its folder does not hold plain manifests: it has ${foreignText(other.path, 200)}`);
  const files = entries.filter(
    (entry) => isPlainFile(entry) && manifest.test(entry.path) && isPathAllowed(repository, entry.path),
  );
  if (files.length > filesMax)
    throw new GitProblem("content", `its folder "${folder}" has ${files.length} manifests, more than ${filesMax}`);
  return files;
}

interface Content {
  readonly entry: TreeEntry;
  readonly bytes: Uint8Array;
}

async function contentsOf(
  mirror: GitMirror,
  entries: readonly TreeEntry[],
  known: KnownBlobs,
  signal: AbortSignal,
): Promise<readonly Content[]> {
  const missing = new Set(entries.map(({ sha }) => sha).filter((sha) => !known.has(sha)));
  if (missing.size > 0) await mirror.fetchBlobs([...missing], signal);
  const contents: Content[] = [];
  for (const entry of entries) {
    const bytes = known.get(entry.sha) ?? (await mirror.blob(entry.sha, fileBytesMax));
    // A file that is too large or has no DaemonSet holds no limit to change.
    if (bytes !== undefined && Buffer.from(bytes).includes("DaemonSet")) contents.push({ entry, bytes });
  }
  return contents;
}

function notConfigured({ repository }: ApplicationSource): GitProblem {
  const name = foreignText(repository, 200).replace(/:\/\/[^/@\s]*@/, "://");
  return new GitProblem("refused", `its repository ${name} is not in the guard's settings (--git-repository)`);
}

function noBranch({ revision }: ApplicationSource): GitProblem {
  return new GitProblem(
    "content",
    `its revision "${foreignText(revision, 100)}" is not a branch, so no commit can go on top of it`,
  );
}
