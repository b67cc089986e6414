import type { Git } from "./ask-git.ts";
import {
  deletionsBetween,
  deletionsOfCommits,
  deletionsOfMerge,
  filesOf,
  noDeletions,
  type Deletions,
} from "./count-deletions.ts";
import { deletionsAllowed, type DeletionLimits } from "./deletion-rule.ts";
import { refuseCutHistory } from "./cut-history.ts";
import { massDeleteOf } from "./mass-delete-trailer.ts";

/** A change that deletes more files than it may without a declaration. */
export interface DeletionRefusal {
  /** The change: a commit, a push, the index. */
  readonly what: string;
  readonly deletions: Deletions;
  /** The number of files before. */
  readonly files: number;
  readonly allowed: number;
  /** The number that the message declares, if any. */
  readonly declared?: number;
}

/** A push of more commits, such as an import, is judged only as a whole. */
const commitsMax = 2_000;

export interface Range {
  readonly what: string;
  /** The old commit of the branch, or where it left another branch; undefined if there is none. */
  readonly old: string | undefined;
  readonly next: string;
  /** Arguments for `git rev-list` that exclude known commits. */
  readonly known: readonly string[];
}

/** Judges each new commit, and then all of them together. */
export async function judgeRange(git: Git, range: Range, limits: DeletionLimits): Promise<DeletionRefusal | undefined> {
  const commits = await newCommits(git, range);
  await refuseCutHistory(
    git,
    commits.filter(({ parents }) => parents.length === 0).map(({ id }) => id),
  );
  let declaredSum = 0;
  if (commits.length <= commitsMax) {
    const single = await deletionsOfCommits(
      git,
      commits.filter(({ parents }) => parents.length === 1).map(({ id }) => id),
    );
    for (const commit of commits) {
      const [parent] = commit.parents;
      if (parent === undefined) continue;
      const deletions = single.get(commit.id) ?? (await ofMerge(git, commit));
      const judged = await judgeCommit(git, { id: commit.id, parent, deletions }, limits);
      if (judged.refusal !== undefined) return judged.refusal;
      declaredSum += judged.declared;
    }
  }
  return judgeWhole(git, range, declaredSum, limits);
}

interface NewCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

async function newCommits(git: Git, { next, known }: Range): Promise<readonly NewCommit[]> {
  const args = ["rev-list", "--parents", `--max-count=${commitsMax + 1}`, next, ...known];
  const commits: NewCommit[] = [];
  const onRecord = (line: string): void => {
    const [id = "", ...parents] = line.split(" ");
    commits.push({ id, parents });
  };
  await git.ask({ args, onRecord, isLines: true });
  return commits;
}

async function ofMerge(git: Git, { id, parents }: NewCommit): Promise<Deletions> {
  return parents.length > 1 ? deletionsOfMerge(git, id, parents) : noDeletions;
}

interface JudgedCommit {
  readonly id: string;
  readonly parent: string;
  readonly deletions: Deletions;
}

async function judgeCommit(
  git: Git,
  { id, parent, deletions }: JudgedCommit,
  limits: DeletionLimits,
): Promise<{ readonly refusal?: DeletionRefusal; readonly declared: number }> {
  if (deletions.count === 0) return { declared: 0 };
  const files = await filesOf(git, parent);
  const allowed = deletionsAllowed(files, limits);
  const declared = massDeleteOf(await git.text("show", "-s", "--format=%B", id));
  if (declared === deletions.count) return { declared };
  if (deletions.count <= allowed) return { declared: 0 };
  const claim = declared === undefined ? {} : { declared };
  return { declared: 0, refusal: { what: `commit ${id.slice(0, 12)}`, deletions, files, allowed, ...claim } };
}

/** Many small commits can add up, and a branch can be reset to another history. */
async function judgeWhole(
  git: Git,
  { what, old, next }: Range,
  declaredSum: number,
  limits: DeletionLimits,
): Promise<DeletionRefusal | undefined> {
  if (old === undefined || old === next) return undefined;
  const deletions = await deletionsBetween(git, old, next);
  const files = await filesOf(git, old);
  const allowed = deletionsAllowed(files, limits);
  if (deletions.count - declaredSum <= allowed) return undefined;
  // The newest commit may declare the number for the whole range.
  const declared = massDeleteOf(await git.text("show", "-s", "--format=%B", next));
  if (declared === deletions.count) return undefined;
  return { what, deletions, files, allowed, ...(declared === undefined ? {} : { declared }) };
}
