import { shapeText } from "../../decide/shape-text.ts";
import type { Decision } from "../../decision/decision.ts";
import type { Step } from "../../decision/step.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import { isOwnerless } from "../../facts/cluster-pod.ts";
import type { World } from "../../facts/world.ts";
import { quietMs } from "./stop-source.ts";

/** With more of them down every further call goes to daemons that are failing already. */
const stormShare = 1 / 3;

/**
 * Why a step must wait until more CNI daemons are well; undefined when it may go on. Only what adds calls waits: the
 * recovery itself is what ends the storm.
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

/** Of the nodes that should have one; of several daemons the worst counts, as a pod needs each. */
function unhealthyShare({ daemonSets }: World, { cniDaemons }: GuardSettings): number {
  const shares = daemonSets
    .filter(({ namespace, name }) =>
      cniDaemons.some((daemon) => daemon.namespace === namespace && daemon.daemonSet === name),
    )
    .filter(({ desired }) => desired > 0)
    .map(({ desired, ready }) => (desired - ready) / desired);
  return Math.max(0, ...shares);
}

/**
 * Which calls a step causes. A removal is one DEL, and ends the ADD and the DEL that kubelet makes for that pod again and
 * again: less, unless its place is taken by a new pod. A higher limit restarts daemons, which have the host's network
 * themselves. The others start and end no pod.
 */
function addedLoad(step: Step, { spec }: Decision, { pods, nowMs }: World): string | undefined {
  if (step.action !== "RemovePods") return undefined;
  const { namespace, shape } = spec.subject;
  // The same silence for which a source is taken for stopped: whoever approves both one after the other is not held up.
  let late = 0;
  for (const pod of pods) {
    if (pod.namespace !== namespace || !isOwnerless(pod) || nowMs - pod.createdMs > quietMs) continue;
    if (shapeText(pod.shape) === shape) late += 1;
  }
  return late === 0
    ? undefined
    : `${late} pods of this make came in the last ${quietMs / 1_000} s: each removal would make room for one more`;
}
