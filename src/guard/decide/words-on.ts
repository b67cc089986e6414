import { approvalProblem, startProblem } from "../approve/approval-problem.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { Decision, DecisionApproval, Verdict } from "../decision/decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeMs } from "../facts/json-values.ts";

/** What people have said about one plan. */
export interface Words {
  /** Those that count, newest first; of two in one second the more careful first. */
  readonly counting: readonly DecisionApproval[];
  /** Those that do not, newest first, and why: whoever said it must be told. */
  readonly mute: readonly MuteWord[];
}

export interface MuteWord {
  readonly approval: DecisionApproval;
  readonly problem: string;
}

export interface WordFacts {
  readonly decision: Decision;
  /** All of the namespace; those of other Decisions do not count. */
  readonly approvals: readonly DecisionApproval[];
  readonly policies: readonly PolicyObject[];
}

export function wordsOn({ decision, approvals, policies }: WordFacts): Words {
  const counting: DecisionApproval[] = [];
  const mute: MuteWord[] = [];
  const ours = approvals.filter((approval) => approval.spec.decision === decision.metadata.name);
  for (const approval of ours.toSorted(newestFirst)) {
    const problem = approvalProblem({ decision, approval, policies });
    if (problem === undefined) counting.push(approval);
    else mute.push({ approval, problem });
  }
  return { counting, mute };
}

/** The last thing that was said about going on. */
export function lastWord({ counting }: Words): DecisionApproval | undefined {
  return counting.find(({ spec }) => spec.verdict !== "ResetBreaker");
}

/** What was said since then and is not followed, in words; undefined when there is nothing of it. */
export function unheard({ counting, mute }: Words, sinceMs: number, nowMs: number): string | undefined {
  const [newest] = counting;
  const isStart = newest?.spec.verdict === "Approve" || newest?.spec.verdict === "Resume";
  const lapsed = newest === undefined || !isStart ? undefined : startProblem(newest, nowMs);
  const candidates = [
    ...mute,
    ...(newest === undefined || lapsed === undefined ? [] : [{ approval: newest, problem: lapsed }]),
  ];
  const [last] = candidates
    .filter(
      ({ approval }) => madeMs(approval) >= sinceMs && (newest === undefined || madeMs(approval) >= madeMs(newest)),
    )
    .toSorted((left, right) => newestFirst(left.approval, right.approval));
  if (last === undefined) return undefined;
  const { approval, problem } = last;
  return `${approval.spec.verdict} of ${authorOf(approval)} (${approval.metadata.name}) does not count: ${problem}`;
}

export function madeMs({ metadata }: DecisionApproval): number {
  return timeMs(metadata.creationTimestamp);
}

export function authorOf({ spec }: DecisionApproval): string {
  return foreignText(spec.by.username, 253);
}

const care: readonly Verdict[] = ["Reject", "Pause", "Resume", "Approve", "ResetBreaker"];

function newestFirst(left: DecisionApproval, right: DecisionApproval): number {
  return madeMs(right) - madeMs(left) || care.indexOf(left.spec.verdict) - care.indexOf(right.spec.verdict);
}
