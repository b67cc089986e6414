/** Names with how often each was seen, most first. */
export type Tally = readonly (readonly [name: string, times: number])[];

/** Pods of one node that waited in line in one go, as its flight recorder has it. Few of them are no storm. */
export interface NodeStorm {
  readonly fromMs: number;
  /** When the last pod left the line. */
  readonly toMs: number;
  /** Pods that waited in line. */
  readonly pods: number;
  readonly namespaces: Tally;
  /** The longest line that an entry tells of, and when. */
  readonly lineMax: number;
  readonly lineMaxMs: number;
  /** Pods by admission class, with the longest wait of those that got their turn. */
  readonly classes: readonly StormClass[];
  /** The waits of those that got their turn, shortest first; see `roundedWaitMs`. */
  readonly waits: readonly (readonly [waitMs: number, times: number])[];
  readonly attached: number;
  /** Failed calls. */
  readonly failures: Tally;
  /** Failed runs of plugins, as `PLUGIN of NETWORK`. */
  readonly plugins: Tally;
  /** Pods that were answered from memory for a while, and the longest such time. */
  readonly held: number;
  readonly holdMsMax: number;
  /** Killed plugins, hung plugins and things left behind. */
  readonly oomKills: number;
  readonly hung: number;
  readonly leaks: number;
  /** About the daemon and about networks that failed for everybody, oldest first. */
  readonly moments: readonly StormMoment[];
}

export interface StormClass {
  readonly name: string;
  readonly pods: number;
  readonly waitMsMax: number;
}

export interface StormMoment {
  readonly atMs: number;
  readonly what: string;
  readonly detail: string;
}

/** `/stormz`: what a node's flight recorder has of pods in line. */
export interface NodeStorms {
  /** The time of the oldest entry; 0 for an empty recorder. */
  readonly sinceMs: number;
  /** The largest ones, oldest first. */
  readonly storms: readonly NodeStorm[];
}

/** Waits of many nodes can be added up like this, and are still exact enough for people. */
export function roundedWaitMs(waitMs: number): number {
  const stepMs = waitMs < 10_000 ? 100 : 1_000;
  return Math.round(waitMs / stepMs) * stepMs;
}
