import type { Clock } from "../../base/clock.ts";
import { saltedHash } from "../line/salted-hash.ts";

/** The first hold: kubelet's own pause is 10 to 15 s, so it is hardly felt. People who run a tool by hand have none. */
const holdMsMin = 10_000;
/** Any other failure may have gone by itself, so it is tried again at least once a minute. */
const otherHoldMsMax = 60_000;
/** Failures in a row after which a pod is served behind those that may well succeed. */
const penaltyFailures = 3;
/** Twice the longest hold unless set otherwise: a pod that has not failed for so long begins afresh. */
const forgetMs = 600_000;
/** A full node has some hundred pods; each entry costs about half a KiB. */
const podsMax = 1_024;
/** Of the error that is shown again while the pod is held. */
const reasonCharsMax = 200;

/** Why an attempt failed, as far as it decides who pays for it. */
export type FailureCause =
  /** The pod's annotation, or a network it names that does not exist: no retry helps. */
  | "own"
  /** A plugin of the network failed, as it may for others. */
  | "network"
  /** Anything else. */
  | "other";

export interface Failure {
  readonly cause: FailureCause;
  /** Which network, when it was one. */
  readonly network?: string;
  /** The error in the words the runtime got. */
  readonly reason: string;
}

/** A pod that is not tried again yet. */
export interface Hold {
  readonly untilMs: number;
  readonly failures: number;
  readonly failure: Failure;
}

/** A pod that has failed, as people want to see it. */
export interface FailuresView {
  readonly failures: number;
  readonly failure: Failure;
  /** From now; 0 when it may come. A change of what it wants, or its network's recovery, makes it 0. */
  readonly nextTryMs: number;
}

type Wants = (() => string) | undefined;

interface Entry {
  wantsHash: number;
  failures: number;
  failure: Failure;
  lastMs: number;
  untilMs: number;
}

/**
 * Makes a pod that fails wait longer each time, which kubelet does not: it comes back every 10 to 15 s for ever. While
 * it is held it is answered with its last failure, at no cost.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #holdMsMax: number;
  readonly #entries = new Map<string, Entry>();

  /** `holdMsMax`: of a pod that fails by its own request. */
  constructor(clock: Clock, holdMsMax: number) {
    this.#clock = clock;
    this.#holdMsMax = holdMsMax;
  }

  /** The hold of a pod that still wants what it failed with; a change of that clears it. */
  held(pod: string, wants: Wants): Hold | undefined {
    const entry = this.#entry(pod);
    if (entry === undefined || wants === undefined) return undefined;
    if (entry.wantsHash !== saltedHash(wants(), 0)) {
      this.#entries.delete(pod);
      return undefined;
    }
    const { untilMs, failures, failure } = entry;
    return this.#clock.monotonicMs() < untilMs ? { untilMs, failures, failure } : undefined;
  }

  /** For people: how often a pod has failed in a row; undefined when it has not. */
  failuresOf(pod: string): FailuresView | undefined {
    const entry = this.#entry(pod);
    if (entry === undefined) return undefined;
    const { failures, failure, untilMs } = entry;
    return { failures, failure, nextTryMs: Math.max(0, untilMs - this.#clock.monotonicMs()) };
  }

  /** Whether it has failed so often that others go first. A network's failure is not held against the pod. */
  isOver(pod: string, wants: Wants): boolean {
    const entry = this.#entry(pod);
    if (entry === undefined || wants === undefined || entry.wantsHash !== saltedHash(wants(), 0)) return false;
    return entry.failures >= penaltyFailures && entry.failure.cause !== "network";
  }

  failed(pod: string, wants: () => string, failure: Failure): Hold {
    const wantsHash = saltedHash(wants(), 0);
    const earlier = this.#entry(pod);
    const failures = (earlier?.wantsHash === wantsHash ? earlier.failures : 0) + 1;
    const lastMs = this.#clock.monotonicMs();
    const untilMs = lastMs + this.#holdMs(failures, failure.cause);
    const kept = { ...failure, reason: failure.reason.slice(0, reasonCharsMax) };
    // Set anew, so that the map's order is that of the last failure.
    this.#entries.delete(pod);
    this.#entries.set(pod, { wantsHash, failures, failure: kept, lastMs, untilMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > podsMax && oldest !== undefined) this.#entries.delete(oldest);
    return { untilMs, failures, failure: kept };
  }

  succeeded(pod: string): void {
    this.#entries.delete(pod);
  }

  /** A network works again: whoever failed because of it may come at once. */
  networkRecovered(network: string): void {
    for (const [pod, { failure }] of this.#entries) {
      if (failure.cause === "network" && failure.network === network) this.#entries.delete(pod);
    }
  }

  /** How many pods are held now. */
  get heldCount(): number {
    const nowMs = this.#clock.monotonicMs();
    let count = 0;
    for (const { untilMs } of this.#entries.values()) if (nowMs < untilMs) count += 1;
    return count;
  }

  /**
   * Doubles with each failure; between half of it and all of it, so that pods that failed together come back apart.
   * What may have gone by itself is tried once more at once.
   */
  #holdMs(failures: number, cause: FailureCause): number {
    if (cause !== "own" && failures === 1) return 0;
    const causeMsMax = cause === "own" ? this.#holdMsMax : Math.min(otherHoldMsMax, this.#holdMsMax);
    const fullMs = Math.min(causeMsMax, holdMsMin * 2 ** (failures - 1));
    return fullMs * (0.5 + this.#clock.random() / 2);
  }

  #entry(pod: string): Entry | undefined {
    const entry = this.#entries.get(pod);
    if (entry === undefined || this.#clock.monotonicMs() - entry.lastMs < forgetMs) return entry;
    this.#entries.delete(pod);
    return undefined;
  }
}
