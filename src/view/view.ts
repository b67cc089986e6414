import type { Namespace, PodName, PodUid } from "../base/brand.ts";
import type { Cancel } from "../base/clock.ts";

/** A pod, in the few fields that decide its networks. */
export interface PodFacts {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly uid: PodUid;
  readonly annotations: Readonly<Record<string, string>>;
  readonly priority: number | undefined;
  readonly isStatic: boolean;
  /** As of the API (`Running`, …); undefined where nobody says. */
  readonly phase?: string;
  readonly hostNetwork?: boolean;
  /** It has a deletionTimestamp. */
  readonly isDeleting?: boolean;
}

/** What became of one pod: `before` is undefined when it is new, `now` when it is gone. */
export interface PodChange {
  readonly before: PodFacts | undefined;
  readonly now: PodFacts | undefined;
}

/** The network's annotation that names the resource whose devices it is made of. */
export const resourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName";

/** A NetworkAttachmentDefinition. */
export interface NetworkDefinition {
  readonly namespace: Namespace;
  readonly name: string;
  /** Of an object in a cluster. */
  readonly uid?: string;
  readonly config: string | undefined;
  readonly annotations: Readonly<Record<string, string>>;
  /** The copy of it has no configuration, because that is unusually long: only the server can tell. */
  readonly isElided?: true;
}

/** A pod by name and by what makes it the right one: a predecessor of the same name may be in the view a while longer. */
export interface WantedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  readonly isWanted: (pod: PodFacts) => boolean;
}

/** Where pods and networks are looked up: a folder of YAML now, the API server's local copy later. */
export interface View {
  findPod(namespace: Namespace, name: PodName): Promise<PodFacts | undefined>;
  /** Resolves when the wanted pod is there; rejects when the signal is aborted. */
  waitForPod(wanted: WantedPod, signal: AbortSignal): Promise<PodFacts>;
  findNetwork(namespace: Namespace, name: string): Promise<NetworkDefinition | undefined>;
  /** All networks there are. */
  networks(): readonly NetworkDefinition[];
  /** All pods of this node; undefined as long as the list may have gaps, so that a missing pod says nothing. */
  pods(): readonly PodFacts[] | undefined;
  /** The files that cannot be read now, each with its place: what is looked for may be in one of them. */
  problems?(): readonly string[];
  /** The server behind a local copy. Only ADD may ask it: nothing else may wait for it, or fail with it. */
  readonly live?: LiveView;
}

/** What the local copy lacks, read from the server itself. Undefined for what does not exist; rejects with a `KubeError`. */
export interface LiveView {
  /** For messages: its address. */
  readonly server: string;
  readPod(namespace: Namespace, name: PodName, signal: AbortSignal): Promise<PodFacts | undefined>;
  readNetwork(namespace: Namespace, name: string, signal: AbortSignal): Promise<NetworkDefinition | undefined>;
  /** Whether all of the local copy has been read once: before that, what it lacks may well exist. */
  isSynced(): boolean;
  /** Since when the server has not answered, on the wall clock; undefined while it does. */
  awaySinceMs(): number | undefined;
  /** Resolves when all pods of this node are known. */
  podsSynced(): Promise<void>;
  /** Called for every pod that was not known before. */
  onNewPod(listener: (pod: PodFacts) => void): Cancel;
  /** Called for every change of a pod of this node. */
  onPodChange(listener: (change: PodChange) => void): Cancel;
}

/** For a machine with neither folder nor cluster: only the networks of the configuration itself. */
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
