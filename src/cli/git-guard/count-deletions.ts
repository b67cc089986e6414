import { createHash } from "node:crypto";
import type { Git } from "./ask-git.ts";

/** The files that one change deletes or empties. */
export interface Deletions {
  /** Both kinds together. */
  readonly count: number;
  readonly emptied: number;
  /** The first few. */
  readonly names: readonly Deletion[];
}

interface Deletion {
  readonly name: string;
  /** It is still there, and nothing is in it. */
  readonly isEmptied: boolean;
}

const namesMax = 5;
export const noDeletions: Deletions = { count: 0, emptied: 0, names: [] };

/**
 * A moved file is not deleted, even if it also changed. With more than a thousand deleted and new files git finds only
 * unchanged moves, because comparing every pair would take hours.
 */
const flags = ["-r", "-M", "-l1000", "--diff-filter=DM", "--raw", "--no-abbrev", "-z", "--ignore-submodules=none"];

/** Deletions between two trees or commits. */
export async function deletionsBetween(git: Git, old: string, next: string): Promise<Deletions> {
  return (await collect(git, ["diff-tree", ...flags, old, next])).get("") ?? noDeletions;
}

/** Deletions of the next commit: the index against HEAD. */
export async function deletionsOfIndex(git: Git): Promise<Deletions> {
  const args = ["diff-index", "--cached", ...flags.slice(1), "HEAD"];
  return (await collect(git, args)).get("") ?? noDeletions;
}

/** Deletions of each commit against its only parent. Merges and first commits have no entry. */
export async function deletionsOfCommits(
  git: Git,
  commits: readonly string[],
): Promise<ReadonlyMap<string, Deletions>> {
  return collect(git, ["diff-tree", "--stdin", ...flags], `${commits.join("\n")}\n`);
}

/** Files that every parent has and the merge does not, or has without their content. */
export async function deletionsOfMerge(git: Git, merge: string, parents: readonly string[]): Promise<Deletions> {
  let common: ReadonlyMap<string, Deletion> | undefined;
  for (const parent of parents) {
    const found = new Map<string, Deletion>();
    await walk(git, ["diff-tree", ...flags, parent, merge], (_, one) => void found.set(one.name, one));
    common = common === undefined ? found : new Map([...common].filter(([name]) => found.has(name)));
    if (common.size === 0) return noDeletions;
  }
  return [...(common ?? new Map<string, Deletion>()).values()].reduce(withOne, noDeletions);
}

/** The number of files in a commit. */
export async function filesOf(git: Git, commit: string): Promise<number> {
  let count = 0;
  await git.ask({ args: ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit], onRecord: () => (count += 1) });
  return count;
}

async function collect(git: Git, args: readonly string[], input?: string): Promise<ReadonlyMap<string, Deletions>> {
  const found = new Map<string, Deletions>();
  const onFound = (commit: string, one: Deletion): void => {
    found.set(commit, withOne(found.get(commit) ?? noDeletions, one));
  };
  await walk(git, args, onFound, input);
  return found;
}

function withOne({ count, emptied, names }: Deletions, one: Deletion): Deletions {
  return {
    count: count + 1,
    emptied: emptied + (one.isEmptied ? 1 : 0),
    names: names.length < namesMax ? [...names, one] : names,
  };
}

/** `:MODE MODE ID ID STATUS`, before the name. */
const change = /^:\d+ (\d+) ([0-9a-f]+) ([0-9a-f]+) ([DM])/;

/** With `--stdin` git prints the commit before its changes, in the place of a change. */
async function walk(
  git: Git,
  args: readonly string[],
  onFound: (commit: string, one: Deletion) => void,
  input?: string,
): Promise<void> {
  let commit = "";
  let seen: RegExpExecArray | undefined;
  const onRecord = (record: string): void => {
    if (seen === undefined) {
      seen = change.exec(record) ?? undefined;
      if (seen === undefined) commit = record;
      return;
    }
    const found = deletionOf(seen, record);
    if (found !== undefined) onFound(commit, found);
    seen = undefined;
  };
  await git.ask({ args, onRecord, ...(input === undefined ? {} : { input }) });
}

function deletionOf(
  [, mode = "", before = "", after = "", status = ""]: RegExpExecArray,
  name: string,
): Deletion | undefined {
  if (status === "D") return { name, isEmptied: false };
  return isFile(mode) && isEmpty(after) && !isEmpty(before) ? { name, isEmptied: true } : undefined;
}

/** Links and submodules have no content to lose. */
function isFile(mode: string): boolean {
  return mode.startsWith("100");
}

/** Contents that say nothing. git names a content by its hash, so no file has to be read. */
const emptyIds: ReadonlySet<string> = new Set(
  ["", "\n", "\r\n"].flatMap((text) =>
    ["sha1", "sha256"].map((algorithm) => createHash(algorithm).update(`blob ${text.length}\0${text}`).digest("hex")),
  ),
);

function isEmpty(id: string): boolean {
  return emptyIds.has(id);
}
