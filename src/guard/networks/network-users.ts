import { namedPodsMax, type NamedPods } from "../../lint/named-pods.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";

/** The running pods of each network, by its `namespace/name`. */
export type NetworkUsers = ReadonlyMap<string, readonly ClusterPod[]>;

const ended: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);

/** A pod that has not started yet gets the network as it will be then, and one that ends needs it no more. */
export function networkUsers(pods: Iterable<ClusterPod>): NetworkUsers {
  const users = new Map<string, ClusterPod[]>();
  for (const pod of pods) {
    if (pod.networks === undefined || !pod.everRan || pod.isDeleting || ended.has(pod.phase)) continue;
    for (const network of pod.networks.split(" ")) {
      const own = users.get(network);
      if (own === undefined) users.set(network, [pod]);
      else own.push(pod);
    }
  }
  return users;
}

export function namedPods(pods: readonly ClusterPod[]): NamedPods {
  return {
    count: pods.length,
    first: pods.slice(0, namedPodsMax).map(({ namespace, name }) => `${namespace}/${name}`),
  };
}
