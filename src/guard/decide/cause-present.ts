import type { Decision } from "../decision/decision.ts";
import { isMember, membersMin } from "../detect/avalanche.ts";
import type { World } from "../facts/world.ts";
import { shapeText } from "./shape-text.ts";

/** Of a set that is looked at again: one pod more or less must not make the question come and go. */
const presentMin = membersMin / 2;

/**
 * Whether what a Decision is about is still there. Of a recovery by its own frozen pods, as no others are touched; of a
 * stop by whatever of that make is stuck in the namespace, as it is about pods to come.
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
