import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import { cannotTell, type Git } from "./ask-git.ts";
import type { DeletionLimits } from "./deletion-rule.ts";
import { judgeRange, type Range, type DeletionRefusal } from "./judge-range.ts";

/** One line of what git writes to a pre-receive hook. */
interface RefUpdate {
  readonly old: string;
  readonly next: string;
  readonly ref: string;
}

/** A mirror of a large server; more is no push that anybody looks at. */
const updatesMax = 10_000;
const line = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/;

export function parseUpdates(text: string): readonly RefUpdate[] {
  const lines = text.split("\n").filter((one) => one !== "");
  if (lines.length > updatesMax) throw unreadable(`${lines.length} refs at once, more than ${updatesMax}`);
  return lines.map((one) => {
    const [, old, next, ref] = line.exec(one) ?? [];
    if (old === undefined || next === undefined || ref === undefined)
      throw unreadable(`"${oneLine(one).slice(0, 100)}" is no line of OLD NEW REF`);
    return { old, next, ref };
  });
}

/** Judges a push before it is taken: every branch and tag of it. */
export async function judgePush(
  git: Git,
  updates: readonly RefUpdate[],
  limits: DeletionLimits,
): Promise<DeletionRefusal | string | undefined> {
  const head = await defaultBranch(git);
  for (const update of updates) {
    const found = await judgeUpdate(git, update, { head, limits });
    if (found !== undefined) return found;
  }
  return undefined;
}

interface PushContext {
  /** What the server's HEAD names, whether it is there or not. */
  readonly head: string;
  readonly limits: DeletionLimits;
}

async function judgeUpdate(
  git: Git,
  { old, next, ref }: RefUpdate,
  { head, limits }: PushContext,
): Promise<DeletionRefusal | string | undefined> {
  if (isNothing(next))
    return ref === head ? `the push deletes ${oneLine(ref)}, the branch that the others come from` : undefined;
  const commit = await git.commit(next);
  // A tag of something else than a commit has no files to lose.
  if (commit === undefined) return undefined;
  const isFirst = (await git.text("for-each-ref", "--count=1", "--format=%(refname)")) === "";
  // Into an empty repository nothing is lost, whatever the history that comes with it.
  if (isFirst) return undefined;
  const range: Range = {
    what: `the push to ${oneLine(ref)}`,
    old: isNothing(old) ? await whereItLeft(git, head, commit) : await git.commit(old),
    next: commit,
    known: ["--not", "--all"],
  };
  return judgeRange(git, range, limits);
}

/** A new branch is compared with where it left the others' branch; one that never did is new altogether. */
async function whereItLeft(git: Git, head: string, commit: string): Promise<string | undefined> {
  const main = await git.commit(head);
  return main === undefined ? undefined : git.mergeBase(main, commit);
}

async function defaultBranch(git: Git): Promise<string> {
  const lines: string[] = [];
  const args = ["symbolic-ref", "--quiet", "HEAD"];
  await git.ask({ args, onRecord: (one) => void lines.push(one), isLines: true, answers: [1] });
  return lines[0] ?? "";
}

function isNothing(name: string): boolean {
  return /^0+$/.test(name);
}

function unreadable(why: string): CommandFailure {
  return new CommandFailure("git-guard-input", `Cannot judge the push: ${why}`, {
    exitCode: cannotTell,
    remedy: "call it from the pre-receive hook, which git writes those lines to",
  });
}
