/** What many nodes did, by the time of the cluster. Sums only, so the order in which nodes are added makes no difference. */
export interface FleetTally {
  nodes: number;
  steps: number;
  simulatedMs: number;
  /** Lists, those at the beginning of a watch too, and watches by second: all nodes together. */
  readonly lists: number[];
  readonly watches: number[];
  /** By minute. */
  readonly otherRequests: number[];
  readonly attached: number[];
  readonly failedTries: number[];
  readonly deleted: number[];
  readonly kills: number[];
  readonly reboots: number[];
  readonly criticalWaitMsMax: number[];
  /** How many pods waited for how long, in steps of `waitStepMs`. */
  readonly waits: number[];
  readonly criticalWaits: number[];
  /** Pods that were attached before the time that counts. */
  builtUp: number;
  /** Rules that were broken, in words. */
  readonly broken: string[];
  /** Of each cohort's events, by its number. */
  readonly hashes: Record<string, string>;
}

const waitStepMs = 100;
const waitStepsMax = 6_000;

export function emptyTally(): FleetTally {
  return {
    nodes: 0,
    steps: 0,
    simulatedMs: 0,
    lists: [],
    watches: [],
    otherRequests: [],
    attached: [],
    failedTries: [],
    deleted: [],
    kills: [],
    reboots: [],
    criticalWaitMsMax: [],
    waits: [],
    criticalWaits: [],
    builtUp: 0,
    broken: [],
    hashes: {},
  };
}

export function addAt(counts: number[], at: number, by = 1): void {
  // A hole in the list would be null as JSON.
  while (counts.length <= at) counts.push(0);
  counts[at] = (counts[at] ?? 0) + by;
}

export function keepMost(most: number[], at: number, value: number): void {
  while (most.length <= at) most.push(0);
  most[at] = Math.max(most[at] ?? 0, value);
}

export function countWait(waits: number[], ms: number): void {
  addAt(waits, Math.min(waitStepsMax, Math.floor(ms / waitStepMs)));
}

/** The time within which this share of the pods had their networks; undefined when there were none. */
export function waitOf(waits: readonly number[], share: number): number | undefined {
  const all = waits.reduce((sum, one) => sum + one, 0);
  let left = all * share;
  const at = waits.findIndex((one) => (left -= one) <= 0);
  return all === 0 ? undefined : (at + 1) * waitStepMs;
}

/** Adds the other to the first. */
export function addTally(to: FleetTally, other: FleetTally): void {
  to.nodes += other.nodes;
  to.steps += other.steps;
  to.simulatedMs += other.simulatedMs;
  to.builtUp += other.builtUp;
  for (const of of summed) other[of].forEach((value, at) => addAt(to[of], at, value));
  other.criticalWaitMsMax.forEach((value, at) => keepMost(to.criticalWaitMsMax, at, value));
  to.broken.push(...other.broken);
  Object.assign(to.hashes, other.hashes);
}

const summed = [
  "lists",
  "watches",
  "otherRequests",
  "attached",
  "failedTries",
  "deleted",
  "kills",
  "reboots",
  "waits",
  "criticalWaits",
] as const;
