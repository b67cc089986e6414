import { namedPodsMax, type NamedPods } from "../../lint/named-pods.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";

/** The running pods of each network, by its `namespace/name`. */
export type NetworkUsers = ReadonlyMap<string, readonly ClusterPod[]>;

const ended: ReadonlySet<string> = new Set(["Succeeded", "Failed"]);

/** A pod that has not started yet gets the network as it will be then, and one that ends needs it no more. */
export function networkUsers(pods: Iterable<ClusterPod>): NetworkUsers {
  const users = new Map<string, ClusterPod[]>();
  // Pods of one template have one text, and there may be 50,000 of them.
  for (const [networks, own] of byNetworks(pods))
    for (const network of networks.split(" ")) {
      const all = users.get(network) ?? [];
      for (const pod of own) all.push(pod);
      users.set(network, all);
    }
  return users;
}

function byNetworks(pods: Iterable<ClusterPod>): ReadonlyMap<string, readonly ClusterPod[]> {
  const found = new Map<string, ClusterPod[]>();
  for (const pod of pods) {
    const { networks } = pod;
    if (networks === undefined || !pod.everRan || pod.isDeleting || ended.has(pod.phase)) continue;
    const own = found.get(networks);
    if (own === undefined) found.set(networks, [pod]);
    else own.push(pod);
  }
  return found;
}

export function namedPods(pods: readonly ClusterPod[]): NamedPods {
  return {
    count: pods.length,
    first: pods.slice(0, namedPodsMax).map(({ namespace, name }) => `${namespace}/${name}`),
  };
}
