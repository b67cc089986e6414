import type { ContainerId } from "../../base/brand.ts";
import type { Fate } from "../../kube/outbox/letter.ts";
import type { PodRef } from "./event-teller.ts";

/** The value of a pod's network-status annotation. */
export interface PodStatus {
  readonly pod: PodRef;
  /** The container it describes. When the container is gone, an undelivered status is dropped. */
  readonly containerId: ContainerId;
  readonly annotation: string;
}

/** Tells the API server the network-status annotation of pods. */
export interface StatusTeller {
  /** Sends the status, or keeps it until it can be sent. Resolves when its fate is known; never rejects. */
  tell(status: PodStatus, onPostponed?: OnPostponed): Promise<Fate>;
  /** The container is gone. */
  drop(containerId: ContainerId): void;
}

/** Called with the reason each time that the status was not written and will be tried again. */
export type OnPostponed = (why: string) => void;

/** For a machine without a cluster. */
export const silentStatusTeller: StatusTeller = {
  tell: () => Promise.resolve("ended"),
  drop: () => undefined,
};
