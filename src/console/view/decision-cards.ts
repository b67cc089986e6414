import { decisionPhase } from "../../guard/decide/standing.ts";
import { terminalPhases, type Decision, type DecisionApproval } from "../../guard/decision/decision.ts";
import { isPlanIntact } from "../../guard/decision/parse-decision.ts";
import type { Step } from "../../guard/decision/step.ts";
import { timeMs } from "../../guard/json-values.ts";
import type { CardStep, CardWord, DecisionCard } from "../../wire/console-decision.ts";

/** Ended ones are kept by the guard for long; the newest are enough here, and the command lists all. */
const endedShown = 20;
const auditShown = 50;

/** A Decision as the console keeps it: without its targets, which may be thousands. */
export interface KeptCard {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly card: DecisionCard;
}

/** Open ones first, those that wait for a person at the top; then the newest of those that have ended. */
export function decisionCards(
  kept: Iterable<KeptCard>,
  approvals: Iterable<DecisionApproval>,
): readonly DecisionCard[] {
  const words = Map.groupBy(approvals, ({ spec }) => spec.decision);
  const cards = [...kept].map((one) => withWords(one, words.get(one.name) ?? []));
  const open = cards.filter(({ isOpen }) => isOpen).toSorted(byTurn);
  const ended = cards.filter(({ isOpen }) => !isOpen).toSorted((left, right) => right.sinceMs - left.sinceMs);
  return [...open, ...ended.slice(0, endedShown)];
}

/** `stepDetails`: the parameters of a step in words, as `levee decisions show` prints them. */
export function keptCard(decision: Decision, stepDetails: (step: Step) => readonly string[]): KeptCard {
  const { metadata, spec, status } = decision;
  const phase = decisionPhase(decision);
  const isOpen = !terminalPhases.has(phase);
  const card: DecisionCard = {
    name: metadata.name,
    cause: spec.cause,
    purpose: spec.purpose,
    phase,
    isOpen,
    needsPerson: phase === "Proposed" || phase === "Paused",
    message: status?.message ?? "The guard has not looked at it yet",
    summary: spec.summary,
    createdMs: timeMs(metadata.creationTimestamp),
    sinceMs: timeMs(status?.since ?? metadata.creationTimestamp),
    planHash: spec.planHash,
    isIntact: isPlanIntact(decision),
    evidence: spec.evidence.map(({ fact, value, at, detail }) => ({ fact, value, atMs: timeMs(at), detail })),
    chain: spec.chain,
    steps: spec.steps.map((step) => cardStep(step, decision, stepDetails(step))),
    notes: spec.notes,
    words: [],
    audit: (status?.audit ?? [])
      .slice(-auditShown)
      .map(({ at, leader, what }) => ({ atMs: timeMs(at), who: leader, what })),
    verdicts: isOpen ? verdictsIn(phase) : [],
    command: `levee decisions show ${metadata.name}`,
  };
  return { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid ?? "", card };
}

function withWords({ uid, card }: KeptCard, approvals: readonly DecisionApproval[]): DecisionCard {
  const words = approvals.map(({ metadata, spec }): CardWord => ({
    verdict: spec.verdict,
    by: spec.by.username,
    atMs: timeMs(metadata.creationTimestamp),
    reason: spec.reason ?? "",
    isCurrent: spec.decisionUID === uid && spec.planHash === card.planHash,
  }));
  return words.length === 0 ? card : { ...card, words: words.toSorted((left, right) => left.atMs - right.atMs) };
}

/** As the last lines of `levee decisions show` offer them; a running plan can be stopped, a paused one taken up. */
function verdictsIn(phase: string): DecisionCard["verdicts"] {
  if (phase === "Proposed") return ["approve", "reject"];
  return phase === "Paused" ? ["resume", "reject"] : ["pause", "reject"];
}

function cardStep(step: Step, { status }: Decision, facts: readonly string[]): CardStep {
  const now = status?.steps?.find(({ id }) => id === step.id);
  return {
    id: step.id,
    action: step.action,
    title: step.title,
    facts,
    kubectl: [...new Set([...step.kubectl, ...(now?.lines ?? [])])],
    preconditions: step.preconditions,
    check: `${step.check.what} (within ${step.check.deadlineSeconds} s)`,
    phase: now?.phase ?? "Waiting",
    message: now?.message ?? "",
  };
}

/** The stop comes before the recovery, which has the same second. */
function byTurn(left: DecisionCard, right: DecisionCard): number {
  const isStop = ({ purpose }: DecisionCard): number => (purpose === "StopSource" ? 1 : 0);
  const needs = ({ needsPerson }: DecisionCard): number => (needsPerson ? 1 : 0);
  return needs(right) - needs(left) || left.createdMs - right.createdMs || isStop(right) - isStop(left);
}
