import type { Namespace, PodName } from "../base/brand.ts";
import type { Cancel } from "../base/clock.ts";
import type { ClaimView } from "./claim-view.ts";
import type { NetworkDefinition } from "./network-definition.ts";
import type { PodChange, PodFacts } from "./pod-facts.ts";

/** A pod by name, and a test for the right one: the view may still have a predecessor of the same name. */
export interface WantedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly isWanted: (pod: PodFacts) => boolean;
}

/** Where the daemon looks up pods and networks: a folder of YAML, or a local copy of what the API server has. */
export interface View {
  findPod(namespace: Namespace, name: PodName): Promise<PodFacts | undefined>;
  /** Resolves when the wanted pod is there; rejects when the signal is aborted. */
  waitForPod(wanted: WantedPod, signal: AbortSignal): Promise<PodFacts>;
  findNetwork(namespace: Namespace, name: string): Promise<NetworkDefinition | undefined>;
  networks(): readonly NetworkDefinition[];
  /** All pods of this node; undefined while the list may have gaps, because then a missing pod means nothing. */
  pods(): readonly PodFacts[] | undefined;
  /** Called for every change of a pod of this node. */
  onPodChange?(listener: (change: PodChange) => void): Cancel;
  /** The files that cannot be read now, each with its bad line: a missing object may be in one of them. */
  problems?(): readonly string[];
  /** The server behind a local copy. Only ADD may ask it: nothing else may wait for the server or fail with it. */
  readonly live?: LiveView;
}

/** Reads from the server itself what the local copy lacks. Undefined when it does not exist; rejects with a `KubeError`. */
export interface LiveView {
  /** Its address, for messages. */
  readonly server: string;
  readPod(namespace: Namespace, name: PodName, signal: AbortSignal): Promise<PodFacts | undefined>;
  readNetwork(namespace: Namespace, name: string, signal: AbortSignal): Promise<NetworkDefinition | undefined>;
  /** The pods' claims on devices. */
  readonly claims: ClaimView;
  /** Whether the local copy has been complete once: before that, an object it lacks may well exist. */
  isSynced(): boolean;
  /** Since when the server has not answered, on the wall clock; undefined while it answers. */
  awaySinceMs(): number | undefined;
  /** Resolves when all pods of this node are known. */
  podsSynced(): Promise<void>;
  /** Called for every pod that was not known before. */
  onNewPod(listener: (pod: PodFacts) => void): Cancel;
  /** Called for every change of a pod of this node. */
  onPodChange(listener: (change: PodChange) => void): Cancel;
}

/** For a machine with neither folder nor cluster: pods get only the networks of the configuration. */
export const emptyView: View = {
  findPod: () => Promise.resolve(undefined),
  waitForPod: (_wanted, signal) =>
    new Promise((_resolve, reject) => {
      const onAbort = (): void => reject(signal.reason as Error);
      if (signal.aborted) onAbort();
      else signal.addEventListener("abort", onAbort, { once: true });
    }),
  findNetwork: () => Promise.resolve(undefined),
  networks: () => [],
  pods: () => undefined,
};
