import { oneLine } from "../../base/plain-text.ts";
import { CommandFailure } from "../failure.ts";
import { cannotTell, type Git } from "./ask-git.ts";
import type { DeletionLimits } from "./deletion-rule.ts";
import { judgeRange, type Range, type DeletionRefusal } from "./judge-range.ts";

/** One line that git writes to a pre-receive hook. */
interface RefUpdate {
  readonly old: string;
  readonly next: string;
  readonly ref: string;
}

/** Enough for the mirror of a large server. */
const updatesMax = 10_000;
const line = /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) (refs\/\S+)$/;

export function parseUpdates(text: string): readonly RefUpdate[] {
  const lines = text.split("\n").filter((one) => one !== "");
  if (lines.length > updatesMax) throw unreadable(`${lines.length} refs at once, more than ${updatesMax}`);
  return lines.map((one) => {
    const [, old, next, ref] = line.exec(one) ?? [];
    if (old === undefined || next === undefined || ref === undefined)
      throw unreadable(`"${oneLine(one).slice(0, 100)}" is not a line of OLD NEW REF`);
    return { old, next, ref };
  });
}

/** Judges every branch and tag of a push before the server accepts it. */
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
  /** The branch that the server's HEAD names; it may not exist. */
  readonly head: string;
  readonly limits: DeletionLimits;
}

async function judgeUpdate(
  git: Git,
  { old, next, ref }: RefUpdate,
  { head, limits }: PushContext,
): Promise<DeletionRefusal | string | undefined> {
  if (isNothing(next))
    return ref === head ? `the push deletes ${oneLine(ref)}, the server's default branch` : undefined;
  const commit = await git.commit(next);
  // A tag of another object than a commit has no files.
  if (commit === undefined) return undefined;
  const isFirst = (await git.text("for-each-ref", "--count=1", "--format=%(refname)")) === "";
  // An empty repository has nothing to lose.
  if (isFirst) return undefined;
  const range: Range = {
    what: `the push to ${oneLine(ref)}`,
    old: isNothing(old) ? await whereItLeft(git, head, commit) : await git.commit(old),
    next: commit,
    known: ["--not", "--all"],
  };
  return judgeRange(git, range, limits);
}

/** A new branch is compared with the point where it left the default branch. Undefined if it never did. */
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
    remedy: "call it from the pre-receive hook, to which git writes these lines",
  });
}
