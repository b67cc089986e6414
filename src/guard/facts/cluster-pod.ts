/**
 * The few fields of a pod that detection needs. 50,000 pods must fit into 256 MiB with everything else, so shared texts
 * are kept once and nothing is nested.
 */
export interface ClusterPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `Pending`, `Running`, …; empty when the API server gives none. */
  readonly phase: string;
  /** Empty while the pod is not bound to a node. */
  readonly node: string;
  readonly createdMs: number;
  /** When the pod was bound, by its own condition, or else when it was created; 0 while it is not bound to a node. */
  readonly boundMs: number;
  /** `ReplicaSet/traefik-6f…`: its controller, or else its first owner. Empty for a pod without any owner reference. */
  readonly owner: string;
  /** What pods of one template have in common (`pod-shape.ts`); empty for a pod with an owner. */
  readonly shape: string;
  /** The name that the creating client gives itself, which can be anything; empty for a pod with an owner. */
  readonly clientSays: string;
  /** Kubelet's image of a static pod. */
  readonly isMirror: boolean;
  /** The pod's annotation says why it needs no owner, or the pod is a Helm hook. */
  readonly isExempt: boolean;
  readonly isDeleting: boolean;
  /** A container has started once, or the pod has a sandbox or an address: something of it may exist on the node. */
  readonly everRan: boolean;
  readonly restarts: number;
  /** When one of its containers was last OOM-killed; 0 for never. */
  readonly oomKilledMs: number;
  /** The condition Ready. */
  readonly isReady?: boolean;
  /**
   * The label by which kured sees the reboot gate (`gate/doors/label-door.ts`): empty when a pod that should bear it has
   * lost it, absent on pods that are no door.
   */
  readonly door?: string;
  /** `namespace/name` of the networks that it names, with a space between; absent without any. */
  readonly networks?: string;
}

export function isOwnerless(pod: ClusterPod): boolean {
  return pod.owner === "" && !pod.isMirror;
}

const fields = [
  "uid",
  "phase",
  "node",
  "createdMs",
  "boundMs",
  "owner",
  "shape",
  "clientSays",
  "isMirror",
  "isExempt",
  "isDeleting",
  "everRan",
  "restarts",
  "oomKilledMs",
  "isReady",
  "door",
  "networks",
] as const satisfies readonly (keyof ClusterPod)[];

export function sameClusterPod(left: ClusterPod, right: ClusterPod): boolean {
  return fields.every((field) => left[field] === right[field]);
}
