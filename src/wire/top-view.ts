import type { FlowView, HungView, OpenNetworkView } from "./pod-now.ts";

/** The node at this moment, for `levee top`. It is always small: no list is longer than 20. */
export interface TopAnswer {
  readonly nodeName: string;
  readonly software: string;
  readonly wallMs: number;
  /** From a clock that never goes back, so that two answers give rates. */
  readonly monotonicMs: number;
  readonly startedWallMs: number;
  readonly attachments: number;
  readonly leaks: number;
  readonly quarantined: number;
  readonly classes: readonly ClassView[];
  readonly slots: SlotsView;
  /** Namespaces with the most calls in line. */
  readonly flows: readonly FlowView[];
  readonly heldPods: number;
  readonly hung: readonly HungView[];
  readonly openNetworks: readonly OpenNetworkView[];
  /** The slowest first. */
  readonly delegates: readonly PluginRunsView[];
  readonly memory: MemoryView;
  /** Percent of the last 10 s in which a process waited; absent where the kernel does not report it. */
  readonly pressure: { readonly cpu?: number; readonly memory?: number; readonly io?: number };
  /** Newest first. */
  readonly failures: readonly RecentFailure[];
  readonly totals: TotalsView;
  readonly notices: readonly string[];
}

interface ClassView {
  /** critical, ordinary, penalty or detach. */
  readonly class: string;
  readonly running: number;
  readonly waiting: number;
  readonly oldestWaitMs: number;
}

export interface SlotsView {
  readonly attaching: number;
  readonly limit: number;
  readonly ceiling: number;
  readonly detaching: number;
  /** Absent in answers of older daemons, where it was the ceiling. */
  readonly detachLimit?: number;
  readonly detachCeiling: number;
  /** Hung calls, which run but hold no slot. */
  readonly hung: number;
  /** Why the limit is where it is, in plain English. */
  readonly why: string;
}

export interface PluginRunsView {
  readonly plugin: string;
  readonly verb: string;
  readonly runs: number;
  readonly failed: number;
  /** Of the last 64 runs. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxRssKib: number;
}

export interface MemoryView {
  readonly state: "free" | "frozen" | "exhausted";
  /** Absent without a limit, and when the limit is unknown. */
  readonly usageBytes?: number;
  readonly limitBytes?: number;
  readonly oomKills?: number;
  /** Memory that the running plugins are expected to need, and their share of the runtime's cgroup. */
  readonly delegateBytes: number;
  readonly delegateBytesMax?: number;
}

export interface RecentFailure {
  readonly wallMs: number;
  readonly namespace: string;
  readonly pod: string;
  readonly verb: string;
  readonly reason: string;
}

/** Since the daemon started. */
export interface TotalsView {
  readonly asked: number;
  readonly attached: number;
  readonly detached: number;
  readonly failed: number;
  readonly delegates: number;
}
