import type { Namespace, PodName, PodUid } from "../../base/brand.ts";

/** What people see in `kubectl describe`. The reasons and texts of Multus are kept where it has the same event. */
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

/** Tells the cluster what happened on this node. Never waited for, and never a reason to fail. */
export interface Announcer {
  aboutPod(pod: PodRef, notice: Notice): void;
  aboutNode(notice: Notice): void;
  aboutNetwork(network: NetworkRef, notice: Notice): void;
}

/** For a machine without a cluster: there is nobody to tell. */
export const silentAnnouncer: Announcer = {
  aboutPod: () => undefined,
  aboutNode: () => undefined,
  aboutNetwork: () => undefined,
};
