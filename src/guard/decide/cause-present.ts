import type { Decision } from "../decision/decision.ts";
import { isMember, isStuck, membersMin } from "../detect/avalanche.ts";
import { isRebootLate } from "../detect/reboot-backlog.ts";
import { findReservedNames, stillHeld } from "../detect/reserved-names.ts";
import { isLive, isOfOwner } from "../detect/runaway.ts";
import { cronJobAbove, topOwnerOf } from "../detect/top-owner.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { GuardSettings } from "../facts/guard-settings.ts";
import type { World } from "../facts/world.ts";
import { runawayPurpose } from "./causes/runaway-plan.ts";
import { isStillCalm } from "./lower/propose-lower.ts";
import { shapeText } from "./shape-text.ts";
import { coveredByOthers, decisionPhase, targetUids } from "./standing.ts";

/** Below the threshold of a new avalanche: one pod more or less must not make a proposal come and go. */
const presentMin = membersMin / 2;

/**
 * Whether a Decision's cause still exists. A stop counts every stuck pod of the shape in the namespace, because it is about
 * pods to come. So does a recovery that nobody has approved, except the targets of others: its plan follows the facts. An
 * approved one counts only its own targets, because it touches no others.
 */
export function isCausePresent(decision: Decision, world: World, settings: GuardSettings): boolean {
  switch (decision.spec.cause) {
    case "OwnerlessPodAvalanche":
      return isAvalanchePresent(decision, world);
    case "RunawayWorkload":
      return isRunawayPresent(decision, world, settings);
    case "ReservedSandboxNames":
      return (
        stillHeld(askedUids(decision), world, settings).size > 0 ||
        findReservedNames(world, settings, new Set()) !== undefined
      );
    case "RebootBacklog":
      return isRebootLate(world);
    case "MemoryNoLongerNeeded":
      return isStillCalm(decision, world, settings);
  }
}

function isAvalanchePresent(decision: Decision, world: World): boolean {
  const { namespace } = decision.spec.subject;
  const counts = countedBy(decision, world);
  let found = 0;
  for (const pod of world.pods) {
    if (pod.namespace !== namespace || !isMember(pod, world.nowMs, world.stuckAfterMs)) continue;
    if (counts(pod)) found += 1;
  }
  return found >= presentMin;
}

function countedBy(decision: Decision, { decisions }: World): (pod: ClusterPod) => boolean {
  const { purpose, subject } = decision.spec;
  const isOfShape = (pod: ClusterPod): boolean => shapeText(pod.shape) === subject.shape;
  if (purpose === "StopSource") return isOfShape;
  const isFirm = decisionPhase(decision) !== "Proposed";
  const uids = isFirm ? new Set(targetUids(decision)) : coveredByOthers(decision, decisions);
  return (pod) => (isFirm ? uids.has(pod.uid) : isOfShape(pod) && !uids.has(pod.uid));
}

/** Stuck pods of the workload, in the phase in which nobody has approved it also who should make it smaller. */
function isRunawayPresent(decision: Decision, world: World, settings: GuardSettings): boolean {
  // A new leader may not have listed them yet: unknown is not gone.
  if (world.owners === undefined) return true;
  const stuck = stuckOf(decision, world);
  const [first] = stuck;
  if (first === undefined || stuck.length < presentMin) return false;
  if (decisionPhase(decision) !== "Proposed") return true;
  const pods = topOwnerOf(first, world);
  const owner = decision.spec.subject.shape.startsWith("CronJob/") ? cronJobAbove(pods, world) : pods;
  const purpose = owner === undefined ? undefined : runawayPurpose({ owner, sinceMs: world.nowMs }, world, settings);
  return purpose === decision.spec.purpose;
}

/** The pods of a runaway's workload that do not start. */
export function stuckOf({ spec }: Decision, world: World): readonly ClusterPod[] {
  const { namespace, shape } = spec.subject;
  const found: ClusterPod[] = [];
  for (const pod of world.pods) {
    if (pod.namespace !== namespace || pod.isDeleting || !isStuck(pod, world.nowMs, world.stuckAfterMs)) continue;
    if (isOfOwner(pod, shape, world)) found.push(pod);
  }
  return found;
}

/** How many pods of a runaway's workload have started and would end with it. */
export function startedOf({ spec }: Decision, world: World): number {
  const { namespace, shape } = spec.subject;
  let found = 0;
  for (const pod of world.pods)
    if (pod.namespace === namespace && pod.everRan && isLive(pod) && isOfOwner(pod, shape, world)) found += 1;
  return found;
}

/** UIDs of the pods that a person was asked about. */
export function askedUids({ spec }: Decision): ReadonlySet<string> {
  return new Set(
    spec.steps.flatMap((step) => (step.action === "AskPerson" ? step.askPerson.items.map(({ uid }) => uid) : [])),
  );
}
