import { terminalPhases, type Decision, type DecisionPhase } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import { timeMs } from "../json-values.ts";
import type { World } from "../facts/world.ts";

/** What earlier Decisions say about an avalanche, so that nothing is proposed twice. */
export interface Standing {
  /** A stop is proposed, rejected or done. */
  readonly isStopAsked: boolean;
  /** The same for a stop by quota. */
  readonly isQuotaAsked: boolean;
  /** UIDs of pods that such a Decision has as targets. */
  readonly coveredUids: ReadonlySet<string>;
  /** `namespace/name` of DaemonSets whose memory such a Decision raises. */
  readonly memoryAsked: ReadonlySet<string>;
}

/** These phases leave the question open, so the guard may propose again. */
const withoutAnswer: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>(["Expired", "Failed", "Superseded"]);

export function standingOf({ namespace, sinceMs }: Avalanche, { decisions }: World): Standing {
  const counted = decisions.filter((decision) => isAnswer(decision) && isOfNow(decision, sinceMs));
  const here = counted.filter(({ spec }) => spec.subject.namespace === namespace);
  const recoveries = here.filter(({ spec }) => spec.purpose === "Recover");
  return {
    isStopAsked: here.some(({ spec }) => spec.purpose === "StopSource"),
    isQuotaAsked: here.some(({ spec }) => spec.steps.some(isQuota)),
    coveredUids: new Set(recoveries.flatMap(targetUids)),
    // From any namespace: one daemon serves them all.
    memoryAsked: new Set(counted.flatMap(memoryTargets)),
  };
}

/** Rejecting a running recovery only stops it: its remaining pods go into a later Decision. */
function isAnswer(decision: Decision): boolean {
  const phase = decisionPhase(decision);
  const isCutShort =
    phase === "Rejected" && decision.spec.purpose === "Recover" && decision.status?.startedAt !== undefined;
  return !withoutAnswer.has(phase) && !isCutShort;
}

function isQuota(step: Step): boolean {
  return step.action === "StopSource" && step.stopSource.way === "Quota";
}

function targetUids({ spec }: Decision): readonly string[] {
  return spec.steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ uid }) => uid) : []));
}

function memoryTargets({ spec }: Decision): readonly string[] {
  return spec.steps.flatMap((step) =>
    step.action === "SetMemoryLimit" ? [`${step.setMemoryLimit.namespace}/${step.setMemoryLimit.name}`] : [],
  );
}

/** A new Decision without a status is a proposal. */
export function decisionPhase({ status }: Decision): DecisionPhase {
  return status?.phase ?? "Proposed";
}

/** A Decision that ended before the oldest pod was created is about another avalanche; open ones always count. */
function isOfNow(decision: Decision, sinceMs: number): boolean {
  return !terminalPhases.has(decisionPhase(decision)) || timeMs(decision.metadata.creationTimestamp) >= sinceMs;
}
