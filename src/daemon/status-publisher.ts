import type { PodRef } from "./announcer.ts";

/** Writes what a pod got into its network-status annotation. */
export interface StatusPublisher {
  /** Resolves when it is written, or when the ADD has waited long enough and it goes on in the background. */
  publish(pod: PodRef, annotation: string, signal: AbortSignal): Promise<void>;
}

/** For a machine without a cluster. */
export const silentPublisher: StatusPublisher = { publish: () => Promise.resolve() };
