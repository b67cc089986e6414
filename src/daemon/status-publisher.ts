import type { ContainerId } from "../base/brand.ts";
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
  /** Resolves when it is written, or when the ADD has waited long enough and it goes on in the background. Never rejects. */
  publish(status: PodStatus, signal: AbortSignal): Promise<PublishOutcome>;
  /** Keeps it until it can be written; nobody waits. */
  publishLater(status: PodStatus): void;
  /** The sandbox is gone. */
  drop(containerId: ContainerId): void;
}

/** `delivered`: it is written. `later`: it goes on in the background. The others: it never will be, and need not. */
export type PublishOutcome =
  | { readonly what: Ended }
  | { readonly what: "later"; readonly why: string; readonly end: Promise<Ended> };

export type Ended = "delivered" | "ended" | "refused" | "dropped" | "replaced";

/** For a machine without a cluster. */
export const silentPublisher: StatusPublisher = {
  publish: () => Promise.resolve({ what: "ended" }),
  publishLater: () => undefined,
  drop: () => undefined,
};
