import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import type { Change } from "./change.ts";
import type { PodClaims } from "./pod-claims.ts";

/** That of system-cluster-critical, from which on a pod goes first. */
export const namedPriority = 2_000_000_000;

/** A pod of this node, in the few fields that decide its networks and what the cluster is told about them. */
export interface PodFacts {
  readonly namespace: Namespace;
  readonly name: PodName;
  /** Empty when the source gives none. Then there is nothing to compare a call's UID with. */
  readonly uid: PodUid;
  /** From a cluster only those that the daemon reads: a node's pods have to fit into little memory. */
  readonly annotations: Readonly<Record<string, string>>;
  /** As admission counts it: pods that the settings name critical have `namedPriority`. */
  readonly priority: number | undefined;
  /** Kubelet starts it from a file, so its UID in the API differs from the one the runtime knows. */
  readonly isStatic: boolean;
  /** `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`; undefined or empty when the source gives none. */
  readonly phase?: string;
  readonly hostNetwork?: boolean;
  /** It has a deletionTimestamp. */
  readonly isDeleting?: boolean;
  /**
   * Whether its label keeps this node from a reboot: false too for a pod of Levee's that has lost it. Undefined for all
   * other pods without that label, which are nearly all.
   */
  readonly isGateClosed?: boolean;
  /** Undefined for a pod without claims. */
  readonly claims?: PodClaims;
  /** Made from the call alone: whether the pod has claims is not known. */
  readonly isFromCall?: true;
}

export type PodChange = Change<PodFacts>;
