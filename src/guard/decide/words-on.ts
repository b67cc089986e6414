import { approvalProblem, startProblem } from "../approve/approval-problem.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import type { Decision, DecisionApproval, Verdict } from "../decision/decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeMs } from "../json-values.ts";

/** The words of people about one plan. */
export interface Words {
  /** Words that count, newest first; of two in the same second, the more cautious first. */
  readonly counting: readonly DecisionApproval[];
  /** Words that do not count, newest first, with the reason for their authors. */
  readonly mute: readonly MuteWord[];
}

interface MuteWord {
  readonly approval: DecisionApproval;
  readonly problem: string;
}

export interface WordFacts {
  readonly decision: Decision;
  /** All approvals of the namespace; those for other Decisions are ignored. */
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

/** The last word about going on. Only a word that is later by every measure ends a pause. */
export function lastWord({ counting }: Words): DecisionApproval | undefined {
  const pauses = counting.filter(isPause);
  const start = counting.find((word) => isStart(word) && pauses.every((pause) => isAfter(word, pause)));
  return start ?? counting.find(({ spec }) => spec.verdict === "Pause" || spec.verdict === "Reject");
}

/** The latest word since then that does not count, with the reason; undefined when there is none. */
export function unheard({ counting, mute }: Words, sinceMs: number, nowMs: number): string | undefined {
  const [newest] = counting;
  const lapsed = newest === undefined || !isStart(newest) ? undefined : startProblem(newest, nowMs);
  const candidates = [
    ...mute,
    ...(newest === undefined || lapsed === undefined ? [] : [{ approval: newest, problem: lapsed }]),
  ];
  const [latest] = candidates
    .filter(
      ({ approval }) => madeMs(approval) >= sinceMs && (newest === undefined || madeMs(approval) >= madeMs(newest)),
    )
    .toSorted((left, right) => newestFirst(left.approval, right.approval));
  const last = latest ?? backdated(counting);
  if (last === undefined) return undefined;
  const { approval, problem } = last;
  return `${approval.spec.verdict} of ${authorOf(approval)} (${approval.metadata.name}) does not count: ${problem}`;
}

/** A word that should have ended a pause but has an earlier time; its author is not to blame. */
function backdated(counting: readonly DecisionApproval[]): MuteWord | undefined {
  const pauses = counting.filter(isPause);
  const isLater = (word: DecisionApproval): boolean =>
    pauses.every((pause) => versionOf(word) > versionOf(pause)) && pauses.some((pause) => madeMs(word) < madeMs(pause));
  const approval = counting.find((word) => isStart(word) && isLater(word));
  if (approval === undefined) return undefined;
  return {
    approval,
    problem: "its time is before that of the pause, because the clocks of the API servers differ: say it again",
  };
}

export function madeMs({ metadata }: DecisionApproval): number {
  return timeMs(metadata.creationTimestamp);
}

export function authorOf({ spec }: DecisionApproval): string {
  return foreignText(spec.by.username, 253);
}

function isPause({ spec }: DecisionApproval): boolean {
  return spec.verdict === "Pause";
}

function isStart({ spec }: DecisionApproval): boolean {
  return spec.verdict === "Approve" || spec.verdict === "Resume";
}

/**
 * Later by resourceVersion and by time: the clocks of API servers differ by seconds, and labelling an old approval raises
 * its resourceVersion.
 */
function isAfter(start: DecisionApproval, pause: DecisionApproval): boolean {
  const versions = [versionOf(start), versionOf(pause)] as const;
  // NaN means unknown.
  if (versions.some(Number.isNaN)) return madeMs(start) > madeMs(pause);
  return versions[0] > versions[1] && madeMs(start) >= madeMs(pause);
}

function versionOf({ metadata: { resourceVersion = "" } }: DecisionApproval): number {
  return /^\d+$/u.test(resourceVersion) ? Number(resourceVersion) : NaN;
}

const care: readonly Verdict[] = ["Reject", "Pause", "Resume", "Approve", "ResetBreaker"];

function newestFirst(left: DecisionApproval, right: DecisionApproval): number {
  return madeMs(right) - madeMs(left) || care.indexOf(left.spec.verdict) - care.indexOf(right.spec.verdict);
}
