import { approvalProblem, startProblem } from "../approve/approval-problem.ts";
import type { PolicyObject } from "../approve/policy-standing.ts";
import {
  terminalPhases,
  type Decision,
  type DecisionApproval,
  type DecisionPhase,
  type DecisionStatus,
  type Verdict,
} from "../decision/decision.ts";
import { textCharsMax } from "../decision/limits.ts";
import { isPlanIntact } from "../decision/parse-decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeMs, timeText } from "../facts/json-values.ts";
import { phaseOf } from "./standing.ts";

export interface PhaseFacts {
  readonly decision: Decision;
  /** All of the namespace; those of other Decisions do not count. */
  readonly approvals: readonly DecisionApproval[];
  readonly policies: readonly PolicyObject[];
  readonly isCausePresent: boolean;
  readonly nowMs: number;
  readonly leader: Leadership;
}

/** Who writes, and under which term: the API server refuses an older term. */
export interface Leadership {
  readonly identity: string;
  readonly fence: number;
}

/**
 * The status that a Decision is to have now, or undefined when it has it. A proposal lives while its cause does, an
 * approval must begin within its time, and what another leader began is paused: nothing is replayed.
 */
export function nextStatus(facts: PhaseFacts): DecisionStatus | undefined {
  const { decision } = facts;
  if (decision.status === undefined) return statusOf(facts, { phase: "Proposed", message: "Waits for a person" });
  if (terminalPhases.has(decision.status.phase)) return undefined;
  const next = transitionOf(facts, decision.status);
  return next === undefined ? undefined : statusOf(facts, next);
}

interface Transition {
  readonly phase: DecisionPhase;
  readonly message: string;
  readonly approval?: DecisionApproval;
}

function transitionOf(facts: PhaseFacts, status: DecisionStatus): Transition | undefined {
  const words = wordsOn(facts);
  const rejection = words.find(({ spec }) => spec.verdict === "Reject");
  if (rejection !== undefined) return { phase: "Rejected", message: `${authorOf(rejection)} said no` };
  if (!isPlanIntact(facts.decision)) return { phase: "Failed", message: "Its plan is not the one it was hashed from" };
  const hasBegun = status.startedAt !== undefined;
  if (!hasBegun && !facts.isCausePresent) return { phase: "Expired", message: "Its cause is gone" };
  switch (phaseOf(facts.decision)) {
    case "Proposed":
      return approvedBy(facts, words);
    case "Approved":
    case "Running":
      return pausedBy(facts, status, words) ?? lapsed(facts, status, words);
    case "Paused":
      return resumedBy(facts, status, words);
    default:
      return undefined;
  }
}

/** True until the guard acts: whoever approves must not wait for it. */
const carriedOutByHand = "this release carries nothing out by itself, the steps' kubectl lines do";

/** Those about this very plan that count, newest first; of two in one second the more careful first. */
function wordsOn({ decision, approvals, policies }: PhaseFacts): readonly DecisionApproval[] {
  const care: readonly Verdict[] = ["Reject", "Pause", "Resume", "Approve", "ResetBreaker"];
  return approvals
    .filter((approval) => approval.spec.decision === decision.metadata.name)
    .filter((approval) => approvalProblem({ decision, approval, policies }) === undefined)
    .toSorted(
      (left, right) =>
        madeMs(right) - madeMs(left) || care.indexOf(left.spec.verdict) - care.indexOf(right.spec.verdict),
    );
}

/** The last thing that was said about going on. */
function lastWord(words: readonly DecisionApproval[]): DecisionApproval | undefined {
  return words.find(({ spec }) => spec.verdict !== "ResetBreaker");
}

function approvedBy({ nowMs }: PhaseFacts, words: readonly DecisionApproval[]): Transition | undefined {
  const word = lastWord(words);
  if (word?.spec.verdict !== "Approve" || startProblem(word, nowMs) !== undefined) return undefined;
  return { phase: "Approved", message: `${authorOf(word)} approved it; ${carriedOutByHand}`, approval: word };
}

function pausedBy(
  { leader }: PhaseFacts,
  status: DecisionStatus,
  words: readonly DecisionApproval[],
): Transition | undefined {
  const word = lastWord(words);
  if (word?.spec.verdict === "Pause") return { phase: "Paused", message: `${authorOf(word)} paused it` };
  const isOther = status.leader !== leader.identity || status.fence !== leader.fence;
  if (status.phase === "Running" && isOther)
    return {
      phase: "Paused",
      message: "The guard changed hands in the middle of it; look at what was done, then resume",
    };
  if (approvalOf(status, words) === undefined)
    return { phase: "Paused", message: "Its approval was withdrawn, or does not count any more" };
  return undefined;
}

/** An approval that has not begun in its time. What has begun goes on. */
function lapsed(
  { nowMs }: PhaseFacts,
  status: DecisionStatus,
  words: readonly DecisionApproval[],
): Transition | undefined {
  const approval = approvalOf(status, words);
  if (status.startedAt !== undefined || approval === undefined) return undefined;
  const problem = startProblem(approval, nowMs);
  return problem === undefined ? undefined : { phase: "Expired", message: `It did not begin: ${problem}` };
}

/** By a word that is younger than the pause and young enough to begin. To resume what nobody approves needs an approval. */
function resumedBy(
  { nowMs }: PhaseFacts,
  status: DecisionStatus,
  words: readonly DecisionApproval[],
): Transition | undefined {
  const word = lastWord(words);
  if (word === undefined || word.spec.verdict === "Pause") return undefined;
  if (madeMs(word) < timeMs(status.since) || startProblem(word, nowMs) !== undefined) return undefined;
  const approval = word.spec.verdict === "Approve" ? word : approvalOf(status, words);
  if (approval === undefined) return undefined;
  const phase = status.startedAt === undefined ? "Approved" : "Running";
  return { phase, message: `${authorOf(word)} resumed it`, approval };
}

/** The one that counted, if it is still there and still counts. */
function approvalOf(status: DecisionStatus, words: readonly DecisionApproval[]): DecisionApproval | undefined {
  return words.find(({ metadata }) => metadata.name === status.approval?.name);
}

/** What else is in the status stays. */
function statusOf({ decision, leader, nowMs }: PhaseFacts, { phase, message, approval }: Transition): DecisionStatus {
  const at = timeText(nowMs);
  return {
    ...decision.status,
    phase,
    message: foreignText(message, textCharsMax),
    since: at,
    fence: leader.fence,
    leader: leader.identity,
    ...(terminalPhases.has(phase) ? { endedAt: at } : {}),
    ...(approval === undefined
      ? {}
      : { approval: { name: approval.metadata.name, by: authorOf(approval), at: timeText(madeMs(approval)) } }),
  };
}

function madeMs({ metadata }: DecisionApproval): number {
  return timeMs(metadata.creationTimestamp);
}

function authorOf({ spec }: DecisionApproval): string {
  return foreignText(spec.by.username, 253);
}
