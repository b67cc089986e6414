import { restartableKinds, type RestartableKind } from "../../decision/step.ts";

/** What others depend on comes first. A name tells what a workload is for; nothing else about it does in every cluster. */
const places: readonly { readonly names: RegExp; readonly why: string }[] = [
  {
    names: /calico|canal|cilium|flannel|antrea|weave|multus|whereabouts|kube-router|kube-proxy|kube-ovn|(?:^|[-/])cni/u,
    why: "the network: every pod that starts needs it",
  },
  {
    names: /csi|longhorn|rook|ceph|openebs|linstor|piraeus|provisioner|storage|nfs/u,
    why: "storage: pods with volumes wait for it",
  },
  { names: /coredns|kube-dns|node-?local-?dns/u, why: "DNS: nearly every program asks it first" },
  {
    names: /traefik|ingress|haproxy|envoy|contour|kong|istio|gateway|metallb|kube-vip/u,
    why: "the way in: people and other clusters come through it",
  },
];

const otherwise = "nothing is known to depend on it";

interface Placed {
  readonly kind: RestartableKind;
  readonly namespace: string;
  readonly name: string;
}

/** Why a workload is restarted before or after others, by its names. */
export function restartPlace({ namespace, name }: Pick<Placed, "namespace" | "name">): string {
  return places[rankOf(namespace, name)]?.why ?? otherwise;
}

/** In the order of the places; within one, the parts of every node first, then by name. */
export function inRestartOrder<W extends Placed>(workloads: readonly W[]): readonly W[] {
  const key = ({ kind, namespace, name }: W): string =>
    `${rankOf(namespace, name)} ${restartableKinds.indexOf(kind)} ${namespace}/${name}`;
  return workloads.toSorted((left, right) => (key(left) < key(right) ? -1 : 1));
}

function rankOf(namespace: string, name: string): number {
  const rank = places.findIndex(({ names }) => names.test(`${namespace}/${name}`));
  return rank === -1 ? places.length : rank;
}
