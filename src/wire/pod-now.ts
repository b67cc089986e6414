/** What keeps a pod from being attached at this moment. */
export interface PodNow {
  readonly waiting?: WaitingView;
  readonly failing?: FailingView;
  /** Networks of this pod that fail for everybody, and are tried once in a while. */
  readonly openNetworks?: readonly OpenNetworkView[];
  /** A plugin of it that runs and uses no CPU. */
  readonly hung?: HungView;
}

export interface WaitingView {
  /** critical, ordinary or penalty. */
  readonly class: string;
  readonly waitedMs: number;
  /** How long it may wait in all. */
  readonly limitMs: number;
  /** 1 is next. */
  readonly position: number;
  readonly inLine: number;
  readonly ofItsNamespace: number;
  /** With the most in line first; at most 5 of `namespacesTotal`. */
  readonly namespaces: readonly FlowView[];
  readonly namespacesTotal: number;
  readonly running: number;
  readonly slots: number;
  /** Absent while nothing is known of the rate. */
  readonly expectedMs?: number;
  /** In plain English. */
  readonly blocker: string;
  /** Which network, when it is one. */
  readonly network?: string;
}

export interface FlowView {
  readonly namespace: string;
  readonly waiting: number;
}

/** A pod that has failed and is tried again. */
export interface FailingView {
  readonly failures: number;
  /** 0 when it may come at once. */
  readonly nextTryMs: number;
  /** own: nothing but a change of the pod or its networks helps · network: a plugin failed · other. */
  readonly cause: string;
  readonly reason: string;
  readonly network?: string;
}

export interface OpenNetworkView {
  readonly network: string;
  readonly forMs: number;
  readonly failures: number;
  readonly reason: string;
  /** 0 when the next who asks for it is the probe. */
  readonly nextProbeMs: number;
}

export interface HungView {
  readonly namespace: string;
  readonly pod: string;
  readonly network: string;
  /** Empty when it is not known which of the network's. */
  readonly plugin: string;
  readonly forMs: number;
}
