import { criticalNamespaces } from "./request.ts";

/** Limits that a site can set. Numbers that no site should change stand beside the code that uses them. */
export interface AdmissionLimits {
  /** The most ADDs that run at once. The adaptive limit moves between 1 and this. */
  readonly attachCeiling: number;
  /** The adaptive limit right after a start. */
  readonly attachStart: number;
  /** The most DELs that run at once, in slots of their own. Their adaptive limit moves between four and this. */
  readonly detachCeiling: number;
  /** The most ADDs in line, and the most DELs. */
  readonly waitingMax: number;
  /** The longest wait of an ADD before the runtime is told to retry. A call with little time left waits less. */
  readonly addQueueMs: number;
  /** The time for all plugins of an ADD. */
  readonly addDelegatesMs: number;
  /** The time that the undo of an ADD needs. */
  readonly addUndoMs: number;
  /** How long a DEL waits before the caller stores it on disk. */
  readonly delQueueMs: number;
  /** The longest hold of a pod that fails because of its own request; 0 turns holds off. */
  readonly holdMsMax: number;
  /** Namespaces whose pods are always critical. */
  readonly criticalNamespaces: ReadonlySet<string>;
}

export const defaultLimits: AdmissionLimits = {
  // Each ADD holds a plugin process in the runtime's cgroup, and four keep two cores busy.
  attachCeiling: 8,
  // A storm may be waiting, and nothing is known about the node yet.
  attachStart: 2,
  // Plugins that wait for something else, such as an address manager, cost only memory: 32 empty a full node in time.
  detachCeiling: 32,
  // A call in line costs about 4 KiB for its connection and header, and a full node has some hundred pods.
  waitingMax: 2_000,
  // The kubelet waits two minutes at least. Each refusal costs it and the runtime a whole sandbox.
  addQueueMs: 70_000,
  addDelegatesMs: 25_000,
  addUndoMs: 8_000,
  // The shim waits 50 s, and 14 of them are for reaching the daemon, the plugins and the reply.
  delQueueMs: 36_000,
  // Only a change of the pod's request helps, and such a change ends the hold at once.
  holdMsMax: 300_000,
  criticalNamespaces,
};
