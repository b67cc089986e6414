/** The reasons why a pod is not attached at this moment. */
export interface PodNow {
  readonly waiting?: WaitingView;
  readonly failing?: FailingView;
  /** Networks of this pod that fail for every pod, so that only probes try them. */
  readonly openNetworks?: readonly OpenNetworkView[];
  /** A running plugin of this pod that uses no CPU. */
  readonly hung?: HungView;
}

export interface WaitingView {
  /** critical, ordinary or penalty. */
  readonly class: string;
  readonly waitedMs: number;
  /** The longest time it may wait. */
  readonly limitMs: number;
  /** The next one has position 1. */
  readonly position: number;
  readonly inLine: number;
  readonly ofItsNamespace: number;
  /** At most 5 of `namespacesTotal`, the ones with the most calls in line first. */
  readonly namespaces: readonly FlowView[];
  readonly namespacesTotal: number;
  readonly running: number;
  readonly slots: number;
  /** Absent while the rate is unknown. */
  readonly expectedMs?: number;
  /** In plain English. */
  readonly blocker: string;
  /** The network that blocks it, if one does. */
  readonly network?: string;
}

export interface FlowView {
  readonly namespace: string;
  readonly waiting: number;
}

/** A pod that has failed and may be tried again. */
export interface FailingView {
  readonly failures: number;
  /** 0 when the pod may try at once. */
  readonly nextTryMs: number;
  /** own: only a change of the pod or its networks helps · network: a plugin failed · other. */
  readonly cause: string;
  readonly reason: string;
  readonly network?: string;
}

export interface OpenNetworkView {
  readonly network: string;
  readonly forMs: number;
  readonly failures: number;
  readonly reason: string;
  /** 0 when the next call for this network is the probe. */
  readonly nextProbeMs: number;
}

export interface HungView {
  readonly namespace: string;
  readonly pod: string;
  readonly network: string;
  /** Empty when the plugin is unknown. */
  readonly plugin: string;
  readonly forMs: number;
}
