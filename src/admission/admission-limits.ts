import { systemNamespaces } from "./request.ts";

/** What a site may set. The numbers that nobody should need to set stand beside the code that uses them. */
export interface AdmissionLimits {
  /** ADDs that run at once at most; the adaptive limit moves between 1 and this. */
  readonly attachCeiling: number;
  /** Where that limit begins after a start. */
  readonly attachStart: number;
  /** DELs that run at once, in slots of their own. */
  readonly detachCeiling: number;
  /** ADDs, and DELs, that may wait. */
  readonly waitingMax: number;
  /** How long an ADD waits before it is told to come back. */
  readonly addQueueMs: number;
  /** How long a DEL waits before the caller makes it durable. */
  readonly delQueueMs: number;
  /** The longest pause of a pod that fails by its own request; 0 for none. */
  readonly holdMsMax: number;
  /** Namespaces whose pods are critical whatever their priority. */
  readonly systemNamespaces: ReadonlySet<string>;
}

export const defaultLimits: AdmissionLimits = {
  // Each holds a plugin process in the runtime's cgroup; two cores are busy with four.
  attachCeiling: 8,
  // A herd may be at the door, and nothing is known of the node yet.
  attachStart: 2,
  // Clean-up frees addresses that ADDs wait for, so it is never starved by them.
  detachCeiling: 4,
  // A waiting call costs a connection and a header, together about 4 KiB; a full node has some hundred pods.
  waitingMax: 2_000,
  // One wait and kubelet's own pause of 10 to 15 s halve what a storm offers; containerd's lock bears no more.
  addQueueMs: 15_000,
  // containerd gives its clean-up 60 s, and the plugins need 25 of them.
  delQueueMs: 20_000,
  // Nothing but a change of what the pod wants helps it, and that ends the pause at once.
  holdMsMax: 300_000,
  systemNamespaces,
};
