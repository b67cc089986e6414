import { aheadMaxMs, approvalProblem, startProblem } from "../approve/approval-problem.ts";
import { authorLost } from "../approve/decision-author.ts";
import {
  terminalPhases,
  type Decision,
  type DecisionApproval,
  type DecisionPhase,
  type DecisionStatus,
} from "../decision/decision.ts";
import { textCharsMax } from "../decision/limits.ts";
import { isPlanIntact } from "../decision/parse-decision.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { timeMs, timeText } from "../json-values.ts";
import { decisionPhase } from "./standing.ts";
import { withAudit } from "../decision/status-audit.ts";
import { takeoverProblem } from "../approve/takeover-problem.ts";
import { authorOf, lastWord, madeMs, unheard, wordsOn, type WordFacts, type Words } from "./words-on.ts";

export interface PhaseFacts extends WordFacts {
  readonly isCausePresent: boolean;
  /** The name of an older proposal about the same cause, which follows the facts in place of this one. */
  readonly supersededBy?: string | undefined;
  readonly nowMs: number;
  readonly leader: Leadership;
}

/** The guard that writes and its term: the API server refuses writes of an older term. */
export interface Leadership {
  readonly identity: string;
  readonly fence: number;
  /** When the leader before it was last heard of; 0 when unknown. */
  readonly heardMs?: number;
}

/**
 * The status that a Decision should have now; undefined when it already has it. A proposal lives while its cause does, an
 * approval must begin within its time, and work that another leader began goes on where `takeoverProblem` finds nothing.
 */
export function nextStatus(facts: PhaseFacts): DecisionStatus | undefined {
  const { decision } = facts;
  if (decision.status === undefined) return statusOf(facts, { phase: "Proposed", message: waitsText(decision) });
  if (terminalPhases.has(decision.status.phase)) return undefined;
  const words = wordsOn(facts);
  const next =
    transitionOf(facts, decision.status, words) ??
    noted(facts, decision.status, words) ??
    stamped(facts, decision.status);
  return next === undefined ? undefined : statusOf(facts, next);
}

interface Transition {
  readonly phase: DecisionPhase;
  readonly message: string;
  readonly approval?: DecisionApproval;
  /** The word that resumed it, which must not resume it again. */
  readonly resumedBy?: DecisionApproval;
  readonly takeovers?: number;
}

function waitsText({ spec: { revisions = [] } }: Decision): string {
  const last = revisions.at(-1);
  return last === undefined
    ? "Waits for a person"
    : `Waits for a person; its plan changed at ${last.at}: ${last.change}`;
}

function transitionOf(facts: PhaseFacts, status: DecisionStatus, words: Words): Transition | undefined {
  const ended = endedBy(facts, status, words);
  if (ended !== undefined) return ended;
  switch (decisionPhase(facts.decision)) {
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

/** A rejection or a changed plan ends any phase; before the start, so does a lost cause or an unknown author. */
function endedBy(facts: PhaseFacts, { startedAt }: DecisionStatus, words: Words): Transition | undefined {
  const { decision, policies } = facts;
  const rejection = words.counting.find(({ spec }) => spec.verdict === "Reject");
  if (rejection !== undefined) return { phase: "Rejected", message: said(rejection, "said no") };
  if (!isPlanIntact(decision)) return { phase: "Failed", message: "Its plan is not the one it was hashed from" };
  if (startedAt !== undefined) return undefined;
  if (!facts.isCausePresent) return { phase: "Expired", message: "Its cause is gone" };
  if (facts.supersededBy !== undefined && lastWord(words)?.spec.verdict !== "Approve")
    return { phase: "Superseded", message: `${facts.supersededBy} is about the same cause and follows it` };
  const lost = authorLost(decision, policies);
  return lost === undefined ? undefined : { phase: "Expired", message: lost };
}

/** Separates the status message from a word that does not count. */
export const butMark = " — but ";

/** Adds to the message why an approval does not count; the phase stays. */
function noted({ decision, nowMs }: PhaseFacts, status: DecisionStatus, words: Words): Transition | undefined {
  const { phase, message, since } = status;
  if (phase !== "Proposed" && phase !== "Paused") return undefined;
  const isRevised = phase === "Proposed" && decision.spec.revisions !== undefined;
  const [base = ""] = isRevised ? [waitsText(decision)] : message.split(butMark);
  const note = unheard(words, phase === "Paused" ? timeMs(since) : 0, nowMs) ?? withoutApproval(status, words);
  const whole = foreignText(note === undefined ? base : `${base}${butMark}${note}`, textCharsMax);
  return whole === message ? undefined : { phase, message: whole };
}

/** A new leader marks open proposals as its own: an older one that wakes up can then no longer replace their plans. */
function stamped({ leader }: PhaseFacts, { phase, message, fence }: DecisionStatus): Transition | undefined {
  return phase === "Proposed" && fence < leader.fence ? { phase, message } : undefined;
}

/** Only an approval starts a proposal, and a resume does not revive a withdrawn approval. */
function withoutApproval(status: DecisionStatus, words: Words): string | undefined {
  const word = lastWord(words);
  if (word === undefined || word.spec.verdict === "Approve") return undefined;
  const isAnswered = word.spec.verdict === "Pause" || madeMs(word) < timeMs(status.since);
  if (status.phase === "Paused" && (isAnswered || approvalOf(status, words) !== undefined)) return undefined;
  return `after ${word.spec.verdict} of ${authorOf(word)} (${word.metadata.name}) it needs a new approval`;
}

function approvedBy({ nowMs }: PhaseFacts, words: Words): Transition | undefined {
  const word = lastWord(words);
  if (word?.spec.verdict !== "Approve" || startProblem(word, nowMs) !== undefined) return undefined;
  return {
    phase: "Approved",
    message: `${said(word, "approved it")}; it begins when nothing else is under way`,
    approval: word,
  };
}

function pausedBy(facts: PhaseFacts, status: DecisionStatus, words: Words): Transition | undefined {
  const { leader } = facts;
  const word = lastWord(words);
  if (word?.spec.verdict === "Pause") return { phase: "Paused", message: said(word, "paused it") };
  if (approvalOf(status, words) === undefined) return { phase: "Paused", message: withdrawn(facts, status) };
  const isOther = status.leader !== leader.identity || status.fence !== leader.fence;
  return status.phase === "Running" && isOther ? takenOver(facts, status) : undefined;
}

/** The approval stands, so the next leader goes on by itself where repeating the step changes nothing. */
function takenOver({ decision, leader, nowMs }: PhaseFacts, status: DecisionStatus): Transition {
  const problem = takeoverProblem({ ...decision, status }, leader.heardMs ?? 0, nowMs);
  const changed = `The leader changed while it was running (${status.leader} before)`;
  if (problem !== undefined)
    return { phase: "Paused", message: `${changed}, and ${problem}; look at what was done, then resume` };
  const where = status.step === undefined ? "" : ` with step ${status.step}`;
  const takeovers = (status.takeovers ?? 0) + 1;
  return { phase: "Running", message: `${changed}; goes on${where}, which looks at everything again`, takeovers };
}

function withdrawn({ decision, approvals, policies }: PhaseFacts, status: DecisionStatus): string {
  const approval = approvals.find(({ metadata }) => metadata.name === status.approval?.name);
  const problem = approval === undefined ? undefined : approvalProblem({ decision, approval, policies });
  return problem === undefined ? "Its approval was withdrawn" : `Its approval does not count any more: ${problem}`;
}

/** An approval that was not started in time. Started work goes on. */
function lapsed({ nowMs }: PhaseFacts, status: DecisionStatus, words: Words): Transition | undefined {
  const approval = approvalOf(status, words);
  if (status.startedAt !== undefined || approval === undefined) return undefined;
  const problem = startProblem(approval, nowMs);
  return problem === undefined ? undefined : { phase: "Expired", message: `It did not begin: ${problem}` };
}

/** The word must be younger than the pause and young enough to start. Without a valid approval it must be an approval. */
function resumedBy({ nowMs }: PhaseFacts, status: DecisionStatus, words: Words): Transition | undefined {
  const word = lastWord(words);
  if (word === undefined || word.spec.verdict === "Pause") return undefined;
  // Times are whole seconds: the first approval may be from the second of the pause.
  const isOld = madeMs(word) < timeMs(status.since) || word.metadata.name === status.approval?.name;
  if (isOld || startProblem(word, nowMs) !== undefined) return undefined;
  const approval = word.spec.verdict === "Approve" ? word : approvalOf(status, words);
  if (approval === undefined) return undefined;
  const phase = status.startedAt === undefined ? "Approved" : "Running";
  return { phase, message: said(word, "resumed it"), approval, resumedBy: word };
}

/** The approval in the status, if it still exists and counts. */
function approvalOf(status: DecisionStatus, { counting }: Words): DecisionApproval | undefined {
  return counting.find(({ metadata }) => metadata.name === status.approval?.name);
}

/** Keeps all other fields of the status. */
function statusOf({ decision, leader, nowMs }: PhaseFacts, transition: Transition): DecisionStatus {
  const { phase, message, approval, resumedBy: word, takeovers = approval === undefined ? undefined : 0 } = transition;
  const at = timeText(nowMs);
  const { since } = decision.status ?? {};
  const status: DecisionStatus = {
    ...decision.status,
    phase,
    message: foreignText(message, textCharsMax),
    since: decision.status?.phase === phase ? decision.status.since : changedAt(nowMs, since, word),
    fence: leader.fence,
    leader: leader.identity,
    ...(terminalPhases.has(phase) ? { endedAt: at } : {}),
    ...(approval === undefined
      ? {}
      : { approval: { name: approval.metadata.name, by: authorOf(approval), at: timeText(madeMs(approval)) } }),
    ...(takeovers === undefined ? {} : { takeovers }),
  };
  return withAudit(decision.status, status, at);
}

/**
 * When a phase began by our clock, but always after the word that resumed it, which has the API server's time: a later
 * pause is then younger than that word, so one word starts nothing twice. Words from further ahead do not count.
 */
export function changedAt(nowMs: number, before?: string, word?: DecisionApproval): string {
  const earliestMs = Math.max(timeMs(before), word === undefined ? 0 : madeMs(word) + 1_000);
  return timeText(earliestMs - nowMs <= aheadMaxMs + 1_000 ? Math.max(nowMs, earliestMs) : nowMs);
}

/** The author, the act, and the reason if there is one. */
function said(word: DecisionApproval, what: string): string {
  const reason = foreignText(word.spec.reason ?? "", reasonCharsMax);
  return `${authorOf(word)} ${what}${reason === "" ? "" : `: ${reason}`}`;
}

/** Leaves room for the rest of the message. */
const reasonCharsMax = 512;
