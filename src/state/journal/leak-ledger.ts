import type { Clock } from "../../base/clock.ts";
import type { ContainerId, IfName, JsonText } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";
import type { AttachmentKey, AttachmentRecord, RecordedNetns, RecordedPod } from "./attachment-record.ts";

/** Something that an undo could not remove. Levee shows it and tries again. */
export interface LeakEntry {
  readonly id: string;
  readonly containerId: ContainerId;
  readonly ifname: IfName;
  readonly pod: RecordedPod | undefined;
  /** Still to undo. Empty when the record was lost and could not be rebuilt, so that nothing can run for it. */
  readonly chains: readonly Chain[];
  /** The result of each chain, for prevResult. */
  readonly results: readonly (JsonText | undefined)[];
  readonly netns: RecordedNetns;
  readonly cniPath: string;
  readonly bootId: string;
  readonly reason: string;
  readonly sinceWallMs: number;
  readonly attempts: number;
  readonly nextTryWallMs: number;
  /** Whether a plugin hung at the last try. Such leaks are tried after all others. */
  readonly hasTimedOut: boolean;
  /** How many tries in a row ended with the same words as the one before. */
  readonly repeats: number;
  /**
   * How many links of its chain succeeded at ADD. They are never undone without the pod's request. Undefined in entries of
   * older daemons: all of them may have.
   */
  readonly linksAdded?: number | undefined;
}

/** A node has some hundred pods, so ten thousand leaks are months of trouble. They take about 40 MiB of journal. */
const leaksMax = 10_000;

const firstRetryMs = 30_000;
/** The longest pause between two tries. */
const leakRetryMsMax = 3_600_000;
const doublingsMax = 7;

/** The pause before try number `attempts` + 1: 30 s doubling to 1 h, less up to a fifth so that tries spread. */
export function leakBackoffMs(attempts: number, random: number): number {
  const wholeMs = Math.min(leakRetryMsMax, firstRetryMs * 2 ** Math.min(attempts, doublingsMax));
  return Math.round(wholeMs * (1 - random / 5));
}

/** The next try after a failed one. */
export function nextRetry(
  leak: LeakRetry,
  { reason, hasTimedOut }: Pick<LeakRetry, "reason" | "hasTimedOut">,
  clock: Clock,
): LeakRetry {
  const attempts = leak.attempts + 1;
  const nextTryWallMs = clock.wallMs() + leakBackoffMs(attempts, clock.random());
  return { reason, attempts, nextTryWallMs, hasTimedOut, repeats: reason === leak.reason ? leak.repeats + 1 : 0 };
}

/** The leak of a record. `chains` are the positions in `record.chains` that are still to undo. */
export function leakOf(record: AttachmentRecord, chains: readonly number[], reason: string, clock: Clock): LeakEntry {
  const nowMs = clock.wallMs();
  return {
    id: newLeakId(clock),
    containerId: record.containerId,
    ifname: record.ifname,
    pod: record.pod,
    chains: chains.flatMap((position) => record.chains[position] ?? []),
    results: chains.filter((position) => position in record.chains).map((position) => record.results[position]),
    netns: record.netns,
    cniPath: record.cniPath,
    bootId: record.bootId,
    reason,
    sinceWallMs: nowMs,
    attempts: 0,
    nextTryWallMs: nowMs + leakBackoffMs(0, clock.random()),
    hasTimedOut: false,
    repeats: 0,
  };
}

/** The leak of a container whose record was lost and could not be rebuilt. */
export function unknownLeak(key: AttachmentKey, facts: UnknownFacts, clock: Clock): LeakEntry {
  const nowMs = clock.wallMs();
  return {
    id: newLeakId(clock),
    // Not a spread, because a caller's key may have more fields than belong on disk.
    containerId: key.containerId,
    ifname: key.ifname,
    ...facts,
    chains: [],
    results: [],
    sinceWallMs: nowMs,
    attempts: 0,
    nextTryWallMs: nowMs + leakBackoffMs(0, clock.random()),
    hasTimedOut: false,
    repeats: 0,
  };
}

export type UnknownFacts = Pick<LeakEntry, "pod" | "netns" | "cniPath" | "bootId" | "reason">;

/** The leaks in memory, oldest first. Only the journal changes them. */
export class LeakLedger {
  readonly #entries = new Map<string, LeakEntry>();
  readonly #max: number;
  #dropped = 0;

  constructor(max = leaksMax) {
    this.#max = max;
  }

  /** How many leaks were dropped because the ledger was full. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds the number that earlier journals dropped. */
  countDropped(count: number): void {
    this.#dropped += count;
  }

  get size(): number {
    return this.#entries.size;
  }

  all(): readonly LeakEntry[] {
    return [...this.#entries.values()];
  }

  get(id: string): LeakEntry | undefined {
    return this.#entries.get(id);
  }

  find(key: AttachmentKey): LeakEntry | undefined {
    for (const entry of this.#entries.values()) {
      if (entry.containerId === key.containerId && entry.ifname === key.ifname) return entry;
    }
    return undefined;
  }

  /** Adds a leak, and returns the one that was dropped for it, if any. */
  add(entry: LeakEntry): LeakEntry | undefined {
    const victim = this.#entries.has(entry.id) || this.#entries.size < this.#max ? undefined : this.#victim();
    if (victim !== undefined) {
      this.#entries.delete(victim.id);
      this.#dropped += 1;
    }
    this.#entries.set(entry.id, entry);
    return victim;
  }

  retried(id: string, change: LeakRetry): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#entries.set(id, { ...entry, ...change });
  }

  resolve(id: string): void {
    this.#entries.delete(id);
  }

  /** The oldest leak without chains, for which nothing can run; else the oldest leak. */
  #victim(): LeakEntry | undefined {
    const entries = this.all();
    return entries.find((entry) => entry.chains.length === 0) ?? entries[0];
  }
}

export type LeakRetry = Pick<LeakEntry, "reason" | "attempts" | "nextTryWallMs" | "hasTimedOut" | "repeats">;

const idBytes = 8;

function newLeakId(clock: Clock): string {
  return Buffer.from(clock.randomBytes(idBytes)).toString("hex");
}
