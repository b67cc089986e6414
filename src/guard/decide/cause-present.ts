import type { Decision } from "../decision/decision.ts";
import { isMember, membersMin } from "../detect/avalanche.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";
import { coveredByOthers, decisionPhase, targetUids } from "./standing.ts";

/** Below the threshold of a new avalanche: one pod more or less must not make a proposal come and go. */
const presentMin = membersMin / 2;

/**
 * Whether a Decision's cause still exists. A stop counts every stuck pod of the shape in the namespace, because it is about
 * pods to come. So does a recovery that nobody has approved, except the targets of others: its plan follows the facts. An
 * approved one counts only its own targets, because it touches no others.
 */
export function isCausePresent(decision: Decision, world: World): boolean {
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
