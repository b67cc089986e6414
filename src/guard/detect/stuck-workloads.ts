import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { World } from "../facts/world.ts";
import { isStuck } from "./avalanche.ts";
import { topOwnerOf } from "./top-owner.ts";

/** A workload with bound pods that do not start. */
export interface StuckWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly ClusterPod[];
}

/** Most stuck pods first. Ownerless pods have no workload. */
export function findStuckWorkloads(world: World): readonly StuckWorkload[] {
  const { pods, nowMs, stuckAfterMs } = world;
  const found = new Map<string, { kind: string; namespace: string; name: string; pods: ClusterPod[] }>();
  for (const pod of pods) {
    if (pod.owner === "" || pod.isMirror || pod.isDeleting || !isStuck(pod, nowMs, stuckAfterMs)) continue;
    const { kind, name } = topOwnerOf(pod, world);
    const key = `${pod.namespace}/${kind}/${name}`;
    const workload = found.get(key);
    if (workload === undefined) found.set(key, { kind, namespace: pod.namespace, name, pods: [pod] });
    else workload.pods.push(pod);
  }
  return [...found.values()].toSorted(
    (left, right) =>
      right.pods.length - left.pods.length || (left.namespace + left.name < right.namespace + right.name ? -1 : 1),
  );
}
