/**
 * A pod in the few fields that detection needs: 50,000 of them must fit beside everything else in 256 MiB, so texts that
 * many pods share are kept once, and nothing nested is kept at all.
 */
export interface ClusterPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** `Pending`, `Running`, …; empty when the server said none. */
  readonly phase: string;
  /** Empty while it is bound to none. */
  readonly node: string;
  readonly createdMs: number;
  /** When it was bound, by its own condition, else when it was made; 0 while it is bound to no node. */
  readonly boundMs: number;
  /** `ReplicaSet/traefik-6f…`: its controller, else its first owner. Empty for an ownerless pod: it has no owner references at all. */
  readonly owner: string;
  /** What it has in common with its like (`pod-shape.ts`); only of an ownerless pod, else empty. */
  readonly shape: string;
  /** Who the client that made it says it is; only of an ownerless pod, else empty. It can say anything. */
  readonly clientSays: string;
  /** Kubelet shows a static pod by it. */
  readonly isMirror: boolean;
  /** It says itself why it needs no owner, or it is a hook of Helm. */
  readonly isExempt: boolean;
  readonly isDeleting: boolean;
  /** A container of it was started once, or it has a sandbox or an address: something of it may exist on the node. */
  readonly everRan: boolean;
  readonly restarts: number;
  /** When a container of it was last killed for its memory; 0 for never. */
  readonly oomKilledMs: number;
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
] as const satisfies readonly (keyof ClusterPod)[];

export function sameClusterPod(left: ClusterPod, right: ClusterPod): boolean {
  return fields.every((field) => left[field] === right[field]);
}
