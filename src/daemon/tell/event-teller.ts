import type { Namespace, PodName, PodUid } from "../../base/brand.ts";

/** An event as `kubectl describe` shows it. Where Multus has the same event, its reason and its text are kept. */
export interface Notice {
  readonly type: "Normal" | "Warning";
  /** CamelCase, for machines. */
  readonly reason: string;
  readonly message: string;
}

export interface PodRef {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly uid: PodUid;
}

export interface NetworkRef {
  readonly namespace: Namespace;
  readonly name: string;
  readonly uid: string;
}

/** Tells the API server by events what happens on this node. Callers do not wait for it, and it never fails. */
export interface EventTeller {
  aboutPod(pod: PodRef, notice: Notice): void;
  aboutNode(notice: Notice): void;
  aboutNetwork(network: NetworkRef, notice: Notice): void;
}

/** For a machine without a cluster. */
export const silentEventTeller: EventTeller = {
  aboutPod: () => undefined,
  aboutNode: () => undefined,
  aboutNetwork: () => undefined,
};
