import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { World } from "../facts/world.ts";
import { isStuck } from "./avalanche.ts";

/** A workload with bound pods that do not start. */
export interface StuckWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly ClusterPod[];
}

/** Most stuck pods first. Ownerless pods have no workload. */
export function findStuckWorkloads({ pods, deployments, nowMs, stuckAfterMs }: World): readonly StuckWorkload[] {
  const deploymentKeys = new Set(deployments.map(({ namespace, name }) => `${namespace}/${name}`));
  const found = new Map<string, { kind: string; namespace: string; name: string; pods: ClusterPod[] }>();
  for (const pod of pods) {
    if (pod.owner === "" || pod.isMirror || pod.isDeleting || !isStuck(pod, nowMs, stuckAfterMs)) continue;
    const [kind, name] = workloadOf(pod, deploymentKeys);
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

/** A ReplicaSet is named after its Deployment plus a hash; the Deployment counts only if it exists. */
function workloadOf(pod: ClusterPod, deploymentKeys: ReadonlySet<string>): readonly [kind: string, name: string] {
  const slash = pod.owner.indexOf("/");
  const kind = pod.owner.slice(0, slash);
  const name = pod.owner.slice(slash + 1);
  const deployment = name.slice(0, Math.max(0, name.lastIndexOf("-")));
  if (kind === "ReplicaSet" && deploymentKeys.has(`${pod.namespace}/${deployment}`)) return ["Deployment", deployment];
  return [kind, name];
}
