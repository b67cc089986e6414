import type { HungView } from "./pod-now.ts";

/**
 * `/nodez`, beside `node` and `checks`: names for the console. No words of plugins are in it: the port that tells it asks
 * nobody who he is, and a pod's own story has them.
 */
export interface HoldsAnswer {
  /** Pods that failed and must wait, at most 20 of `podsTotal`. */
  readonly pods: readonly HeldPodView[];
  readonly podsTotal: number;
  /** Networks that fail for every pod, at most 20. */
  readonly networks: readonly { readonly network: string; readonly failures: number; readonly forMs: number }[];
  readonly hung: readonly HungView[];
}

export interface HeldPodView {
  readonly namespace: string;
  readonly pod: string;
  readonly failures: number;
  readonly nextTryMs: number;
  /** own, network, other …, as FailingView has it. */
  readonly cause: string;
  readonly network?: string;
}

/** Addresses that host-local holds for a network's configuration, when a hand last looked; at most 200 networks. */
export interface LeaseCountView {
  /** The name in the configuration, which is host-local's folder. */
  readonly network: string;
  readonly v4: number;
  readonly v6: number;
}
