/** What was seen of a container since the guard set its memory. It outlives the leader (`reconcile/calm-keeper.ts`). */
export interface MemoryCalm {
  /** `uid/container` of the DaemonSet, and its limit then: another one begins anew. */
  readonly key: string;
  readonly limit: string;
  /** There was no pressure and no gap since. */
  readonly sinceMs: number;
  /** Until then every one of its pods has told what it uses. */
  readonly coveredMs: number;
  /** The most that one of its pods used since, and the node. */
  readonly peakBytes: number;
  readonly peakNode: string;
  /** Processes that were killed for memory, by node; nodes without any are left out. */
  readonly kills: Readonly<Record<string, number>>;
  /** Why it began anew; empty at first. */
  readonly broken: string;
  /** When the guard last saw a backlog of pods; 0 for never. */
  readonly disturbedMs: number;
  /** Prometheus has told it, and not the pods themselves. */
  readonly isOfPrometheus?: true;
}
