import type { Git } from "./ask-git.ts";

/** The files that one change deletes. */
export interface Deletions {
  readonly count: number;
  /** The first few names. */
  readonly names: readonly string[];
}

const namesMax = 5;
export const noDeletions: Deletions = { count: 0, names: [] };

/**
 * A moved file is not deleted, even if it also changed. With more than a thousand deleted and new files git finds only
 * unchanged moves, because comparing every pair would take hours.
 */
const flags = ["-r", "-M", "-l1000", "--diff-filter=D", "--name-status", "-z", "--ignore-submodules=none"];

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

/** Files that every parent has and the merge does not. */
export async function deletionsOfMerge(git: Git, merge: string, parents: readonly string[]): Promise<Deletions> {
  let common: ReadonlySet<string> | undefined;
  for (const parent of parents) {
    const names = new Set<string>();
    await walk(git, ["diff-tree", ...flags, parent, merge], (_, name) => void names.add(name));
    common = common === undefined ? names : common.intersection(names);
    if (common.size === 0) return noDeletions;
  }
  const names = [...(common ?? [])];
  return { count: names.length, names: names.slice(0, namesMax) };
}

/** The number of files in a commit. */
export async function filesOf(git: Git, commit: string): Promise<number> {
  let count = 0;
  await git.ask({ args: ["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit], onRecord: () => (count += 1) });
  return count;
}

async function collect(git: Git, args: readonly string[], input?: string): Promise<ReadonlyMap<string, Deletions>> {
  const found = new Map<string, { count: number; names: string[] }>();
  await walk(
    git,
    args,
    (commit, name) => {
      const known = found.get(commit) ?? { count: 0, names: [] };
      known.count += 1;
      if (known.names.length < namesMax) known.names.push(name);
      found.set(commit, known);
    },
    input,
  );
  return found;
}

/** With `--stdin` git prints the commit before its changes, in the place of a status letter. */
async function walk(
  git: Git,
  args: readonly string[],
  onDeleted: (commit: string, name: string) => void,
  input?: string,
): Promise<void> {
  let commit = "";
  let isName = false;
  const onRecord = (record: string): void => {
    if (isName) onDeleted(commit, record);
    else if (record !== "D") commit = record;
    isName = !isName && record === "D";
  };
  await git.ask({ args, onRecord, ...(input === undefined ? {} : { input }) });
}
