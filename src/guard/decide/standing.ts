import { terminalPhases, type Decision, type DecisionPhase, type DecisionPurpose } from "../decision/decision.ts";
import type { SetMemoryLimitStep, Step } from "../decision/step.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import { memoryBytes } from "../facts/memory-quantity.ts";
import { timeMs } from "../json-values.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";

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
  /** The stop and the recovery of this cause that nobody has approved yet. Their plans follow the facts. */
  readonly open: OpenProposals;
}

interface OpenProposals {
  readonly stop?: Decision;
  readonly recover?: Decision;
}

/** These phases leave the question open, so the guard may propose again. */
const withoutAnswer: ReadonlySet<DecisionPhase> = new Set<DecisionPhase>(["Expired", "Failed", "Superseded"]);

export function standingOf(avalanche: Avalanche, world: World): Standing {
  const { namespace, sinceMs } = avalanche;
  const counted = world.decisions.filter((decision) => isAnswer(decision) && isOfNow(decision, sinceMs));
  const avalanches = counted.filter(({ spec }) => spec.cause === avalanche.cause);
  const here = avalanches.filter(({ spec }) => spec.subject.namespace === namespace);
  const open = openProposals(here, shapeText(avalanche.shape));
  // What nobody has approved yet covers nothing: its plan takes up what is new.
  const firm = counted.filter((decision) => !isOpenOf(decision, avalanche));
  const recoveries = firm.filter(
    ({ spec }) => spec.cause === avalanche.cause && spec.subject.namespace === namespace && spec.purpose === "Recover",
  );
  return {
    isStopAsked: here.some(({ spec }) => spec.purpose === "StopSource"),
    isQuotaAsked: here.some(({ spec }) => spec.steps.some(isQuota)),
    coveredUids: new Set(recoveries.flatMap(targetUids)),
    // From any namespace: one daemon serves them all.
    memoryAsked: new Set(firm.flatMap((decision) => memoryTargets(decision, world))),
    open,
  };
}

/** Of several, the first: an earlier release proposed one for each twenty pods. `supersededBy` ends the others. */
function openProposals(here: readonly Decision[], shape: string): OpenProposals {
  const first = (purpose: DecisionPurpose): Decision | undefined =>
    here
      .filter(({ spec }) => spec.purpose === purpose && spec.subject.shape === shape)
      .filter(isOpen)
      .toSorted(byAge)[0];
  const [stop, recover] = [first("StopSource"), first("Recover")];
  return { ...(stop === undefined ? {} : { stop }), ...(recover === undefined ? {} : { recover }) };
}

/** The name of the proposal about the same cause that was there before this one; undefined when there is none. */
export function supersededBy(decision: Decision, decisions: readonly Decision[]): string | undefined {
  const { cause, purpose, subject } = decision.spec;
  if (!isOpen(decision)) return undefined;
  const [first] = decisions
    .filter(
      ({ spec }) =>
        spec.cause === cause &&
        spec.purpose === purpose &&
        spec.subject.namespace === subject.namespace &&
        spec.subject.shape === subject.shape,
    )
    .filter(isOpen)
    .toSorted(byAge);
  return first === undefined || first.metadata.name === decision.metadata.name ? undefined : first.metadata.name;
}

/** UIDs of pods that other Decisions than this one have as targets. */
export function coveredByOthers({ metadata }: Decision, decisions: readonly Decision[]): ReadonlySet<string> {
  const others = decisions.filter((one) => one.metadata.name !== metadata.name && isAnswer(one) && !isOpen(one));
  return new Set(others.flatMap(targetUids));
}

function isOpen(decision: Decision): boolean {
  return decisionPhase(decision) === "Proposed";
}

function isOpenOf(decision: Decision, { namespace, shape }: Avalanche): boolean {
  const { subject } = decision.spec;
  return isOpen(decision) && subject.namespace === namespace && subject.shape === shapeText(shape);
}

export function byAge(left: Decision, right: Decision): number {
  const [one, other] = [left.metadata, right.metadata];
  const ageMs = timeMs(one.creationTimestamp) - timeMs(other.creationTimestamp);
  // Names end in numbers: the tenth comes after the second.
  return ageMs || one.name.length - other.name.length || (one.name < other.name ? -1 : 1);
}

/** Rejecting one that has begun only stops it: what is left goes into a later Decision. */
export function isAnswer(decision: Decision): boolean {
  const phase = decisionPhase(decision);
  const isCutShort = phase === "Rejected" && decision.status?.startedAt !== undefined && isAskedAnew(decision);
  return !withoutAnswer.has(phase) && !isCutShort;
}

/**
 * The plan of a recovery or of a workload's stop follows the facts, so a later one differs from the one that was stopped.
 * The stop of an avalanche would be the same again, and so would a question to a person.
 */
function isAskedAnew({ spec: { purpose, cause } }: Decision): boolean {
  return purpose === "Recover" || (purpose === "StopSource" && cause === "RunawayWorkload");
}

function isQuota(step: Step): boolean {
  return step.action === "StopSource" && step.stopSource.way === "Quota";
}

export function targetUids({ spec }: Decision): readonly string[] {
  return spec.steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ uid }) => uid) : []));
}

/** What a Decision has raised counts only while it stands: somebody may have lowered it again. */
function memoryTargets(decision: Decision, { daemonSets }: World): readonly string[] {
  const isDone = decisionPhase(decision) === "Succeeded";
  // A Decision that lowers the memory answers nothing: in an outage it has to go up again.
  if (decision.spec.purpose === "LowerMemory") return [];
  return decision.spec.steps.flatMap((step) => {
    if (step.action !== "SetMemoryLimit" || (isDone && isLowered(step, daemonSets))) return [];
    return [`${step.setMemoryLimit.namespace}/${step.setMemoryLimit.name}`];
  });
}

/** No limit at all is not lower. */
function isLowered({ setMemoryLimit }: SetMemoryLimitStep, daemonSets: World["daemonSets"]): boolean {
  const { namespace, name, container, newLimit } = setMemoryLimit;
  const found = daemonSets
    .find((daemonSet) => daemonSet.namespace === namespace && daemonSet.name === name)
    ?.containers.find((one) => one.name === container);
  const bytes = memoryBytes(found?.memoryLimit ?? "");
  return bytes !== undefined && bytes < (memoryBytes(newLimit) ?? 0);
}

/** A new Decision without a status is a proposal. */
export function decisionPhase({ status }: Decision): DecisionPhase {
  return status?.phase ?? "Proposed";
}

/** A Decision that ended before the oldest pod was created is about another avalanche; open ones always count. */
export function isOfNow(decision: Decision, sinceMs: number): boolean {
  return !terminalPhases.has(decisionPhase(decision)) || timeMs(decision.metadata.creationTimestamp) >= sinceMs;
}
