import { shapeText } from "../../decide/shape-text.ts";
import type { Decision } from "../../decision/decision.ts";
import type { Step } from "../../decision/step.ts";
import { stormShare, unhealthyShare } from "../../detect/cni-health.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import { isOwnerless } from "../../facts/cluster-pod.ts";
import type { World } from "../../facts/world.ts";
import { quietMs } from "./stop-source.ts";

/**
 * Why a step must wait until more CNI daemons are healthy; undefined when it may go on. Only steps that add calls wait,
 * because the recovery itself ends the storm.
 */
export function stormProblem(
  step: Step,
  decision: Decision,
  world: World,
  settings: GuardSettings,
): string | undefined {
  const share = unhealthyShare(world, settings);
  if (share <= stormShare) return undefined;
  const load = addedLoad(step, decision, world);
  if (load === undefined) return undefined;
  return `the CNI daemons of ${Math.round(share * 100)} % of the nodes are not ready, and ${load}`;
}

/**
 * The calls that a step adds. A removal is one DEL and ends the repeated ADD and DEL for that pod, so it saves calls unless
 * a new pod replaces it. A restart starts pods. A higher limit restarts daemons, which use the host's network. A smaller owner
 * only ends pods. Other steps start and end no pod.
 */
function addedLoad(step: Step, { spec }: Decision, { pods, nowMs }: World): string | undefined {
  if (step.action === "RestartWorkload") return "a restart starts pods that need a network";
  if (step.action !== "RemovePods") return undefined;
  const { namespace, shape } = spec.subject;
  // The same silence that counts as stopped, so that approving stop and recovery in a row does not wait.
  let late = 0;
  for (const pod of pods) {
    if (pod.namespace !== namespace || !isOwnerless(pod) || nowMs - pod.createdMs > quietMs) continue;
    if (shapeText(pod.shape) === shape) late += 1;
  }
  return late === 0
    ? undefined
    : `${late} pods of this template came in the last ${quietMs / 1_000} s: each removal would make room for one more`;
}
