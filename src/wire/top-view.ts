import type { FlowView, HungView, OpenNetworkView } from "./pod-now.ts";

/** The node at this moment, for `levee top`. Small whatever happens: no list is longer than 20. */
export interface TopAnswer {
  readonly nodeName: string;
  readonly software: string;
  readonly wallMs: number;
  /** Of a clock that never goes back, so that rates can be made of two answers. */
  readonly monotonicMs: number;
  readonly startedWallMs: number;
  readonly attachments: number;
  readonly leaks: number;
  readonly quarantined: number;
  readonly classes: readonly ClassView[];
  readonly slots: SlotsView;
  /** Namespaces with the most in line. */
  readonly flows: readonly FlowView[];
  readonly heldPods: number;
  readonly hung: readonly HungView[];
  readonly openNetworks: readonly OpenNetworkView[];
  /** The slowest first. */
  readonly delegates: readonly PluginRunsView[];
  readonly memory: MemoryView;
  /** Percent of the last 10 s in which somebody had to wait; absent where the kernel does not tell. */
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
  readonly detachCeiling: number;
  /** Running, but not counted. */
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
  /** Absent when there is no limit, or nobody tells. */
  readonly usageBytes?: number;
  readonly limitBytes?: number;
  readonly oomKills?: number;
  /** What the delegates that run are expected to need, and what the runtime's cgroup has for them. */
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
