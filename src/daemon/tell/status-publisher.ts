import type { ContainerId } from "../../base/brand.ts";
import type { PodRef } from "./announcer.ts";

/** What a pod got, as the value of its network-status annotation. */
export interface PodStatus {
  readonly pod: PodRef;
  /** The sandbox it is true for: when that goes, so does what was not delivered yet. */
  readonly containerId: ContainerId;
  readonly annotation: string;
}

/** Writes what a pod got into its network-status annotation. */
export interface StatusPublisher {
  /** Sends it, or keeps it until it can be sent. Resolves when it is known what became of it; never rejects. */
  publish(status: PodStatus, onPostponed?: OnPostponed): Promise<Ended>;
  /** The sandbox is gone. */
  drop(containerId: ContainerId): void;
}

/** Told why it was not written, each time that it is to be tried again. */
export type OnPostponed = (why: string) => void;

/** `delivered`: it is written. The others: it never will be, and need not. */
export type Ended = "delivered" | "ended" | "refused" | "dropped" | "replaced";

/** For a machine without a cluster. */
export const silentPublisher: StatusPublisher = {
  publish: () => Promise.resolve("ended"),
  drop: () => undefined,
};
