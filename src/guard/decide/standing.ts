import { terminalPhases, type Decision, type DecisionPhase } from "../decision/decision.ts";
import type { Step } from "../decision/step.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import { timeMs } from "../facts/json-values.ts";
import type { World } from "../facts/world.ts";

/** What has been proposed about an avalanche already, and what came of it. */
export interface Standing {
  /** A person is asked, has said no, or it was done: it is not asked again. */
  readonly isStopAsked: boolean;
  /** The same, about a quota. */
  readonly isQuotaAsked: boolean;
  /** UIDs of pods that are targets of such a Decision. */
  readonly coveredUids: ReadonlySet<string>;
  /** `namespace/name` of DaemonSets whose memory such a Decision raises. */
  readonly memoryAsked: ReadonlySet<string>;
}

/** These left the question open: it may be asked again. */
const withoutAnswer: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>(["Expired", "Failed", "Superseded"]);

export function standingOf({ namespace, sinceMs }: Avalanche, { decisions }: World): Standing {
  const counted = decisions.filter((decision) => isAnswer(decision) && isOfNow(decision, sinceMs));
  const here = counted.filter(({ spec }) => spec.subject.namespace === namespace);
  const recoveries = here.filter(({ spec }) => spec.purpose === "Recover");
  return {
    isStopAsked: here.some(({ spec }) => spec.purpose === "StopSource"),
    isQuotaAsked: here.some(({ spec }) => spec.steps.some(isQuota)),
    coveredUids: new Set(recoveries.flatMap(targetUids)),
    // Of any namespace: one daemon serves them all.
    memoryAsked: new Set(counted.flatMap(memoryTargets)),
  };
}

/**
 * A recovery that was rejected after it had begun was stopped, which is no answer about what is left of its pods: those go
 * into a later one.
 */
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

/** One that was created and has no status yet is a proposal. */
export function decisionPhase({ status }: Decision): DecisionPhase {
  return status?.phase ?? "Proposed";
}

/** What has ended before the oldest pod was made was about another avalanche; what is open always counts. */
function isOfNow(decision: Decision, sinceMs: number): boolean {
  return !terminalPhases.has(decisionPhase(decision)) || timeMs(decision.metadata.creationTimestamp) >= sinceMs;
}
