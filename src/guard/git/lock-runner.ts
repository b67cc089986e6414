import { holdsProblem } from "../act/steps/hold-seen.ts";
import type { StepContext, StepRunner, StepResult } from "../act/step-runner.ts";
import type { LockToGitStep } from "../decision/step.ts";
import { applyEdits } from "./apply-edits.ts";
import type { GitMirror, PushTarget } from "./git-mirror.ts";
import type { GitMirrors } from "./git-mirrors.ts";
import { GitProblem, gitReason, problemOf } from "./git-problem.ts";
import { isBranchAllowed, isBranchName, isPathAllowed } from "./git-repository.ts";
import { lockMessage } from "./lock-message.ts";
import { fileOf, isOnePathCommit, makeOnePathCommit } from "./one-path-commit.ts";
import { valuesStand } from "./values-stand.ts";
import { fileBytesMax } from "./yaml-field.ts";

/** A branch with other writers may move between fetch and push. */
const pushTries = 3;
/** How many later commits are searched for ours after a lost answer. */
const historyMax = 50;

/** Writes a plan's values into git: one commit of one path, on a branch of its own unless the settings say otherwise. */
export class LockRunner implements StepRunner<LockToGitStep> {
  readonly #mirrors: GitMirrors;
  /** Steps whose server did not answer in this attempt; it is not asked again in the same attempt. */
  readonly #away = new WeakMap<LockToGitStep, GitProblem>();

  constructor(mirrors: GitMirrors) {
    this.#mirrors = mirrors;
  }

  /** An unreachable server does not fail the precondition: the step is deferred instead. */
  async precondition(step: LockToGitStep, context: StepContext): Promise<string | undefined> {
    this.#away.delete(step);
    const forbidden = this.#forbidden(step);
    if (forbidden !== undefined) return forbidden;
    return this.#unlessAway(step, async (mirror) => {
      const { baseRef, path, oldBlobSha, edits } = step.lockToGit;
      const commit = await mirror.fetch(baseRef, 1, context.signal);
      const { sha } = await fileOf(mirror, commit, path);
      if (sha === oldBlobSha || (await this.#isSo(mirror, commit, step, context))) return undefined;
      const values = edits.map(({ to }) => to).join(", ");
      return `${path} has the content ${sha} now, not ${oldBlobSha}; write ${values} into it on ${baseRef} by hand, then resume`;
    });
  }

  /** Makes the commit and asks the server by a dry run, which does not run the server's hooks. */
  async rehearse(step: LockToGitStep, context: StepContext): Promise<string | undefined> {
    return this.#unlessAway(step, async (mirror) => {
      const { present, commit } = await this.#made(mirror, step, context);
      if (present !== undefined) return undefined;
      const end = await mirror.push(commit, { ...target(step), isDryRun: true }, context.signal);
      if (end.exitCode === 0) return undefined;
      const rejected = rejection(end.stdout);
      if (rejected === undefined) throw problemOf(end, `push to ${step.lockToGit.branch}`);
      return rejected;
    });
  }

  async perform(step: LockToGitStep, context: StepContext): Promise<StepResult> {
    try {
      const away = this.#away.get(step);
      if (away !== undefined) throw away;
      const mirror = this.#mirror(step);
      return await mirror.exclusive(() => this.#pushed(mirror, step, context));
    } catch (thrown) {
      if (!isAway(thrown)) throw thrown;
      await mustBeHeld(step, context, thrown);
      return { later: thrown.message };
    }
  }

  /** Reads back from the server: the base branch has the content, or our branch is at our commit. */
  async check(step: LockToGitStep, context: StepContext): Promise<string | undefined> {
    const { baseRef, branch, path } = step.lockToGit;
    const mirror = this.#mirror(step);
    const { commit } = context.reported;
    try {
      return await mirror.exclusive(async () => {
        const base = await mirror.fetch(baseRef, 1, context.signal);
        if (await this.#isSo(mirror, base, step, context)) return undefined;
        if (branch === baseRef) return `${path} does not have the new value on ${baseRef}`;
        const tip = await mirror.fetch(branch, 1, context.signal);
        return tip === commit ? undefined : `${branch} is at ${tip}, not at ${commit ?? "our commit"}`;
      });
    } catch (thrown) {
      if (thrown instanceof GitProblem) return thrown.message;
      throw thrown;
    }
  }

  async #pushed(mirror: GitMirror, step: LockToGitStep, context: StepContext): Promise<StepResult> {
    const { branch, repository } = step.lockToGit;
    for (let attempt = 1; ; attempt += 1) {
      const { present, commit } = await this.#made(mirror, step, context);
      if (present === "base") return { commit, message: `${step.lockToGit.baseRef} already has it, at ${commit}` };
      if (present === "branch") return { commit, message: `${commit} already has it${afterwards(step)}` };
      await context.mayWrite();
      context.audit(`push ${commit} to ${branch}`, [repository], "begun");
      const end = await mirror.push(commit, target(step), context.signal);
      if (end.exitCode === 0) return { commit, message: `Pushed ${commit} to ${branch}${afterwards(step)}` };
      const rejected = rejection(end.stdout);
      if (rejected === undefined) throw problemOf(end, `push to ${branch}`);
      // Another push was faster; fetch and build the commit again.
      if (/fetch first|non-fast-forward/.test(rejected) && attempt < pushTries) continue;
      const said = gitReason(end.stderr.replace(/^error: failed to push.*$/m, ""));
      throw new GitProblem("refused", `The server rejects the push to ${branch}: ${rejected}${said && `; ${said}`}`);
    }
  }

  /** The commit to push, or the one that already exists: from a lost answer, another leader, or a person. */
  async #made(mirror: GitMirror, step: LockToGitStep, context: StepContext): Promise<MadeCommit> {
    const { baseRef, branch } = step.lockToGit;
    const base = await mirror.fetch(baseRef, 1, context.signal);
    if (await this.#isSo(mirror, base, step, context)) return { present: "base", commit: base };
    const isThere = branch !== baseRef && (await mirror.tip(branch, context.signal)) !== undefined;
    if (!isThere) return { commit: await this.#commitOn(base, mirror, step, context) };
    const tip = await mirror.fetch(branch, 2, context.signal);
    if (await this.#isOurs(mirror, step, tip, context.signal)) return { present: "branch", commit: tip };
    throw new GitProblem("refused", `${branch} already exists at ${tip}, which is not of this plan`);
  }

  /** The commit has the plan's content, or a person has written its values in words of their own. */
  async #isSo(mirror: GitMirror, commit: string, step: LockToGitStep, context: StepContext): Promise<boolean> {
    const { path, oldBlobSha, newBlobSha } = step.lockToGit;
    const { sha } = await fileOf(mirror, commit, path);
    if (sha === newBlobSha || sha === oldBlobSha) return sha === newBlobSha;
    await mirror.fetchBlobs([sha], context.signal);
    const bytes = await mirror.blob(sha, fileBytesMax);
    return bytes !== undefined && valuesStand(bytes, step, context.decision);
  }

  /** The commit does exactly what the plan says, on top of a commit of the base branch. */
  async #isOurs(mirror: GitMirror, { lockToGit }: LockToGitStep, tip: string, signal: AbortSignal): Promise<boolean> {
    const parent = await mirror.parentOf(tip);
    if (parent === undefined || !(await isOnePathCommit(mirror, { ...lockToGit, parent }, tip))) return false;
    return (await mirror.history(lockToGit.baseRef, historyMax, signal)).includes(parent);
  }

  async #commitOn(
    parent: string,
    mirror: GitMirror,
    step: LockToGitStep,
    { decision, signal }: StepContext,
  ): Promise<string> {
    const { path, oldBlobSha, newBlobSha, newBytesSha256, document, edits } = step.lockToGit;
    await mirror.fetchBlobs([oldBlobSha], signal);
    const old = await mirror.blob(oldBlobSha, fileBytesMax);
    if (old === undefined) throw new GitProblem("content", `${path} has more than ${fileBytesMax} bytes`);
    const bytes = applyEdits(old, document, edits);
    const message = lockMessage(step, decision);
    const atSeconds = Math.floor(Date.parse(decision.status?.approval?.at ?? "") / 1000) || 0;
    const content = { path, oldBlobSha, newBlobSha, newBytesSha256, bytes };
    return makeOnePathCommit(mirror, { ...content, parent, message, atSeconds });
  }

  /** Why the settings forbid it; they may have changed since the proposal. */
  #forbidden({ lockToGit: { repository, baseRef, branch, path } }: LockToGitStep): string | undefined {
    const known = this.#mirrors.find(repository)?.repository;
    if (known === undefined)
      return `${repository} is not one of the repositories that this guard may use (--git-repository)`;
    if (!isBranchAllowed(known, baseRef)) return `the branch ${baseRef} is not allowed for ${repository}`;
    if (!isPathAllowed(known, path)) return `the path ${path} is not allowed for ${repository}`;
    if (branch === baseRef && !known.isDirect) return `a push to ${branch} needs push=direct`;
    if (branch !== baseRef && !(branch.startsWith("levee/") && isBranchName(branch)))
      return `${branch} is not a branch of ours: those begin with levee/`;
    return undefined;
  }

  #mirror({ lockToGit: { repository } }: LockToGitStep): GitMirror {
    const mirror = this.#mirrors.find(repository);
    if (mirror === undefined) throw new GitProblem("refused", `${repository} is not allowed`);
    return mirror;
  }

  async #unlessAway(
    step: LockToGitStep,
    look: (mirror: GitMirror) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    if (this.#away.has(step)) return undefined;
    const mirror = this.#mirror(step);
    try {
      return await mirror.exclusive(() => look(mirror));
    } catch (thrown) {
      if (isAway(thrown)) this.#away.set(step, thrown);
      if (isAway(thrown)) return undefined;
      if (thrown instanceof GitProblem) return thrown.message;
      throw thrown;
    }
  }
}

interface MadeCommit {
  /** Where the server already has it: on the branch that is followed, or on the plan's own. */
  readonly present?: "base" | "branch";
  readonly commit: string;
}

function target({ lockToGit: { branch, baseRef } }: LockToGitStep): PushTarget {
  return { branch, isNew: branch !== baseRef };
}

function isAway(thrown: unknown): thrown is GitProblem {
  return thrown instanceof GitProblem && thrown.kind === "unreachable";
}

/** Without git the plan goes on only while the hold prevents a revert. */
async function mustBeHeld(step: LockToGitStep, context: StepContext, { message }: GitProblem): Promise<void> {
  const problem = await holdsProblem(step, context);
  if (problem !== undefined) throw new GitProblem("refused", `${message}; and ${problem}`);
}

function afterwards({ lockToGit: { branch, baseRef } }: LockToGitStep): string {
  return branch === baseRef ? "" : `; merge it into ${baseRef}, then end Argo CD's hold`;
}

/** Why `git push --porcelain` says that a ref was rejected. */
function rejection(stdout: Buffer): string | undefined {
  const line = /^!\t\S+\t(.*)$/m.exec(stdout.toString("utf8"))?.[1];
  return line === undefined ? undefined : gitReason(line);
}
