import type { Decision } from "../decision/decision.ts";
import { isMember, membersMin } from "../detect/avalanche.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";

/** Below the threshold of a new avalanche: one pod more or less must not make a proposal come and go. */
const presentMin = membersMin / 2;

/**
 * Whether a Decision's cause still exists. A recovery counts only its own targets, because it touches no others; a stop
 * counts every stuck pod of the shape in the namespace, because it is about pods to come.
 */
export function isCausePresent({ spec }: Decision, { pods, nowMs, stuckAfterMs }: World): boolean {
  const uids = new Set(
    spec.steps.flatMap((step) => (step.action === "RemovePods" ? step.targets.map(({ uid }) => uid) : [])),
  );
  const { namespace, shape } = spec.subject;
  let found = 0;
  for (const pod of pods) {
    if (pod.namespace !== namespace || !isMember(pod, nowMs, stuckAfterMs)) continue;
    const counts = spec.purpose === "Recover" ? uids.has(pod.uid) : shapeText(pod.shape) === shape;
    if (counts) found += 1;
  }
  return found >= presentMin;
}
