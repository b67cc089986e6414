import type { SimStormPlan, SimStormPod } from "./sim-storm-plan.ts";

/** One pod's progress. Times are milliseconds since the start of the storm. */
export interface SimPodRecord {
  readonly pod: SimStormPod;
  readonly arrivedMs: number;
  /** Since when it is to be attached: since it came, or since a power cut took what it had. */
  wantedMs: number;
  attachedMs: number | undefined;
  goneMs: number | undefined;
  /** ADDs that failed, for the kubelet to try again. */
  refusals: number;
  isAttached: boolean;
}

/** A node at one moment. */
interface NodeMoment {
  readonly usageBytes: number;
  readonly workingBytes: number;
  readonly anonBytes: number;
  readonly isUp: boolean;
}

/** The storm at one moment. */
export interface SimMoment {
  readonly atMs: number;
  readonly attached: number;
  readonly waiting: number;
  readonly criticalAttached: number;
  readonly criticalWaiting: number;
  /** Of all nodes to the API server, so far. */
  readonly requests: number;
  readonly nodes: readonly NodeMoment[];
}

/** What happened to one node. */
export interface SimNodeEnd {
  readonly name: string;
  readonly pods: number;
  readonly attached: number;
  /** Until the last pod was attached, without critical ones; undefined when one was not that has to be. */
  readonly tookMs: number | undefined;
  readonly oomKills: number;
  readonly firstKillMs: number | undefined;
  readonly restarts: number;
  readonly refusals: number;
  readonly peakBytes: number;
  readonly anonPeakBytes: number;
  readonly daemonCpuMs: number;
  /** Addresses that nothing holds any more and that were not given back. */
  readonly leaks: number;
}

/** The result of a simulated storm. */
export interface SimStormEnd {
  readonly plan: SimStormPlan;
  readonly records: readonly SimPodRecord[];
  readonly moments: readonly SimMoment[];
  readonly nodes: readonly SimNodeEnd[];
  readonly api: SimApiLoad;
  /** Whether somebody ended it early. */
  readonly isInterrupted: boolean;
  readonly simulatedMs: number;
  readonly steps: number;
  /** Of all that happened. The same plan and program give the same one. */
  readonly hash: string;
  /** What did not hold. */
  readonly broken: readonly string[];
}

export interface SimApiLoad {
  readonly lists: number;
  readonly watches: number;
  readonly gets: number;
  readonly writes: number;
  /** The most requests within one second. */
  readonly perSecondMax: number;
}
