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
import { massDeleteOf } from "./mass-delete-trailer.ts";

/** Something that deletes more than it may without saying so. */
export interface DeletionRefusal {
  /** What does it: a commit, a push, the index. */
  readonly what: string;
  readonly deletions: Deletions;
  /** Files there were before. */
  readonly files: number;
  readonly allowed: number;
  /** What the message claims instead, if it claims anything. */
  readonly declared?: number;
}

/** A push of more commits than this is judged by what it changes as a whole: an import, or a branch of years. */
const commitsMax = 2_000;

export interface Range {
  readonly what: string;
  /** Where the branch was, or where it left another; undefined when there is nothing to compare with. */
  readonly old: string | undefined;
  readonly next: string;
  /** Arguments for `git rev-list` that leave out what is known already. */
  readonly known: readonly string[];
}

/** Judges each new commit by itself, and then what they delete all together. */
export async function judgeRange(git: Git, range: Range, limits: DeletionLimits): Promise<DeletionRefusal | undefined> {
  const commits = await newCommits(git, range);
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

/** Many small commits can add up, and a branch can be set to something else altogether. */
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
  // For the whole of it the newest commit may speak.
  const declared = massDeleteOf(await git.text("show", "-s", "--format=%B", next));
  if (declared === deletions.count) return undefined;
  return { what, deletions, files, allowed, ...(declared === undefined ? {} : { declared }) };
}
