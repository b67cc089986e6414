import type { Namespace, PodName, PodUid } from "../../base/brand.ts";

/** A pod of this node, in the few fields that decide its networks and what is said about them. */
export interface PodFacts {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly uid: PodUid;
  /** Only those of `podAnnotations`: the rest was dropped when the pod was read. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority: number | undefined;
  /** Started by kubelet from a file, so its UID in the API differs from the one the runtime knows. */
  readonly isStatic: boolean;
  /** `Pending`, `Running`, `Succeeded`, `Failed`, `Unknown`; empty when the server said none. */
  readonly phase: string;
  readonly hostNetwork: boolean;
  /** It has a deletionTimestamp. */
  readonly isDeleting: boolean;
  /** Empty when it is bound to no node. */
  readonly nodeName: string;
}

/** A NetworkAttachmentDefinition. */
export interface NetworkDefinition {
  readonly namespace: Namespace;
  readonly name: string;
  readonly uid: string;
  /** The text of spec.config, untouched; undefined when it is empty, and a file in confDir is meant. */
  readonly config: string | undefined;
  /** Only those of `networkAnnotations`. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Its configuration is too long for the local copy, and `config` is only a text in its place. */
  readonly isElided?: true;
}

/** A pod by name and by what makes it the right one: a predecessor of the same name may be in the view a while longer. */
export interface WantedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly isWanted: (pod: PodFacts) => boolean;
}

/** What became of one object: `before` is undefined when it is new, `now` when it is gone. */
export interface Change<T> {
  readonly before: T | undefined;
  readonly now: T | undefined;
}

/** How well the local copy of one resource follows the API server. Times are of the Clock's wall. */
export interface ReflectorHealth {
  readonly resource: string;
  readonly objects: number;
  /** A complete list has been taken. */
  readonly isSynced: boolean;
  readonly lists: number;
  /** Lists and watches that had to be begun again after an error; planned ends are not counted. */
  readonly reconnects: number;
  /** Differences a periodic list found that no event had told. */
  readonly missedEvents: number;
  /** Since anything was heard of this resource (event, bookmark, list); undefined before the first. */
  readonly lastEventAgeMs: number | undefined;
  /** Why list or watch fails now; undefined while it works. */
  readonly lastError: string | undefined;
  /** Since when it has failed, on the wall clock; undefined while it works. */
  readonly failingSinceMs: number | undefined;
  /** Whether the failure is that no answer comes at all, as opposed to a refusal. */
  readonly isUnreachable: boolean;
  /** The server knows no such resource: its definition is not installed. */
  readonly isAbsent: boolean;
}

/** What the pod has, as the daemon tells it. */
export const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** The annotations of a pod that anybody here reads. */
export const podAnnotations = [
  "k8s.v1.cni.cncf.io/networks",
  "v1.multus-cni.io/default-network",
  statusAnnotation,
  "kubernetes.io/config.source",
  "kubernetes.io/config.mirror",
] as const;

/** The annotations of a network that anybody here reads. */
export const networkAnnotations = ["k8s.v1.cni.cncf.io/resourceName"] as const;
