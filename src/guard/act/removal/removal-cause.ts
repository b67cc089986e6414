import type { RemovePodsStep } from "../../decision/step.ts";
import type { StepContext } from "../step-runner.ts";

/**
 * Why nothing more is removed: the avalanche is over by itself. Counted are the frozen pods that are still Pending and those
 * that this step has removed, by this leader, by one before, or as its last intent says.
 */
export function causeProblem(step: RemovePodsStep, context: StepContext, removedNow: number): string | undefined {
  const { decision, reported, world } = context;
  const { intent } = decision.status ?? {};
  const uids = new Set(step.targets.map(({ uid }) => uid));
  const intended = new Set(intent?.step === step.id ? intent.uids : []);
  let stuck = 0;
  for (const pod of world().pods) {
    if (!uids.has(pod.uid)) continue;
    intended.delete(pod.uid);
    if (pod.phase === "Pending" && !pod.everRan) stuck += 1;
  }
  const present = stuck + Math.max(removedNow, reported.removed ?? 0) + intended.size;
  if (present >= step.removePods.presentMin) return undefined;
  return `its cause is gone: of ${step.targets.length} pods only ${stuck} are still Pending; nothing more is removed`;
}
