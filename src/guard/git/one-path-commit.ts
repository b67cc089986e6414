import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { GitProblem } from "./git-problem.ts";
import type { GitMirror } from "./git-mirror.ts";
import { isPlainFile, splitAtNul, type TreeEntry } from "./tree-entry.ts";

/** A commit that changes the content of one file and nothing else. */
interface OnePathCommit {
  readonly parent: string;
  readonly path: string;
  readonly oldBlobSha: string;
  readonly newBlobSha: string;
  readonly newBytesSha256: string;
  readonly bytes: Uint8Array;
  readonly message: string;
  /** Seconds since 1970. The same in every try, so that every try makes the same commit. */
  readonly atSeconds: number;
}

const author = { name: "Levee guard", email: "levee-guard@levee.invalid" };

/** The entry of a plain file in a commit. Throws when the path is missing or not a plain file. */
export async function fileOf(mirror: GitMirror, commit: string, path: string): Promise<TreeEntry> {
  const entries = await mirror.list(commit, path, false);
  const entry = entries.find((one) => one.path === path);
  if (entry === undefined) throw new GitProblem("content", `${path} no longer exists`);
  if (!isPlainFile(entry)) throw new GitProblem("content", `${path} is not a plain file (${entry.type} ${entry.mode})`);
  return entry;
}

/**
 * Makes the commit with git's plumbing on a separate index that starts as the parent's tree, so there is no working folder
 * that could be empty. Then reads it back: a commit that changes anything else is not used.
 */
export async function makeOnePathCommit(mirror: GitMirror, wanted: OnePathCommit): Promise<string> {
  const { parent, path, bytes } = wanted;
  const entry = await fileOf(mirror, parent, path);
  if (entry.sha !== wanted.oldBlobSha)
    throw new GitProblem("content", `${path} has the content ${entry.sha} now, not ${wanted.oldBlobSha}`);
  const blob = await written(mirror, bytes);
  if (blob !== wanted.newBlobSha || createHash("sha256").update(bytes).digest("hex") !== wanted.newBytesSha256)
    throw new GitProblem("content", `the bytes for ${path} are not the approved ones`);
  const tree = await treeWith(mirror, parent, `${entry.mode},${blob},${path}`);
  const commit = await committed(mirror, wanted, tree);
  if (!(await isOnePathCommit(mirror, wanted, commit)))
    throw new GitProblem("content", `the commit would change more than ${path}`);
  return commit;
}

/** Whether a commit changes exactly one path of its parent, from this content to that, with the same mode. */
export async function isOnePathCommit(
  mirror: GitMirror,
  { parent, path, oldBlobSha, newBlobSha }: Pick<OnePathCommit, "parent" | "path" | "oldBlobSha" | "newBlobSha">,
  commit: string,
): Promise<boolean> {
  const args = ["diff-tree", "-r", "--no-renames", "--raw", "--full-index", "-z", parent, commit];
  const [change = "", changed, ...others] = splitAtNul(await mirror.local({ args, doing: "compare the trees" }));
  const [before, after, ...rest] = change.replace(/^:/, "").split(" ");
  const isContent = rest.join(" ") === `${oldBlobSha} ${newBlobSha} M`;
  return changed === path && others.length === 0 && before === after && isContent;
}

async function written(mirror: GitMirror, bytes: Uint8Array): Promise<string> {
  // Without a path, no attribute or filter changes the bytes.
  const args = ["hash-object", "-w", "-t", "blob", "--no-filters", "--stdin"];
  return lineOf(await mirror.local({ args, doing: "write the file", input: bytes }));
}

async function treeWith(mirror: GitMirror, parent: string, cacheInfo: string): Promise<string> {
  const index = `${mirror.folder}/levee-index`;
  const env = { GIT_INDEX_FILE: index };
  rmSync(index, { force: true });
  try {
    await mirror.local({ args: ["read-tree", parent], doing: "read the tree", env });
    await mirror.local({ args: ["update-index", "--cacheinfo", cacheInfo], doing: "change the index", env });
    // The copy lacks the other files' contents, and a tree does not need them.
    return lineOf(await mirror.local({ args: ["write-tree", "--missing-ok"], doing: "write the tree", env }));
  } finally {
    rmSync(index, { force: true });
  }
}

async function committed(
  mirror: GitMirror,
  { parent, message, atSeconds }: OnePathCommit,
  tree: string,
): Promise<string> {
  const date = `@${atSeconds} +0000`;
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_COMMITTER_DATE: date,
  };
  const args = ["commit-tree", tree, "-p", parent, "-F", "-"];
  return lineOf(await mirror.local({ args, doing: "make the commit", input: message, env }));
}

function lineOf(bytes: Buffer): string {
  return bytes.toString("utf8").trim();
}
