import type { Clock } from "../../base/clock.ts";
import { saltedHash } from "../line/salted-hash.ts";

/** The first hold. Kubelet pauses 10 to 15 s itself, so pods hardly notice it. */
const holdMsMin = 10_000;
/** Any other failure may pass by itself, so the pod may try again at least once a minute. */
const otherHoldMsMax = 60_000;
/** After so many consecutive failures a pod is served after the others. */
const penaltyFailures = 3;
/** After this time without a failure a pod starts again from zero. It is twice the default of the longest hold. */
const forgetMs = 600_000;
/** A full node has some hundred pods, and each entry costs about half a KiB. */
const podsMax = 1_024;
/** Length of the reason shown while the pod is held. */
const reasonCharsMax = 200;

/** Whose fault a failed attempt is. */
export type FailureCause =
  /** The pod's annotation is invalid, or it names a network that does not exist. No retry helps. */
  | "own"
  /** A plugin of the network failed, as it may for other pods. */
  | "network"
  /** A plugin refused values that only this pod asked for. A retry may help: an address may become free. */
  | "values"
  /** Anything else. */
  | "other";

export interface Failure {
  readonly cause: FailureCause;
  /** The network that failed, if one did. */
  readonly network?: string;
  /** The error as the runtime got it. */
  readonly reason: string;
  /** Present when a plugin answered, instead of hanging, being killed or not starting. */
  readonly answer?: PluginAnswer;
}

/** The end of a plugin that failed by itself. */
export interface PluginAnswer {
  /** Its error without the names of network and interface, so that the errors of different pods can be compared. */
  readonly words: string;
  /** The values that it got and that only this pod asked for; empty without any. */
  readonly values: string;
}

/** A time during which a pod is answered from memory instead of tried. */
export interface Hold {
  readonly untilMs: number;
  readonly failures: number;
  readonly failure: Failure;
}

/** A failing pod, for people. */
export interface FailuresView {
  readonly failures: number;
  readonly failure: Failure;
  /** Time from now; 0 when the pod may try. A change of its request, or its network's recovery, makes it 0. */
  readonly nextTryMs: number;
}

/** A pod that must wait before it is tried again, by its key. */
export interface HeldPod extends FailuresView {
  readonly pod: string;
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
 * Makes a failing pod wait longer each time. Kubelet does not: it retries every 10 to 15 s forever. A held pod is
 * answered with its last failure, at no cost.
 */
export class RetryBudget {
  readonly #clock: Clock;
  readonly #holdMsMax: number;
  readonly #entries = new Map<string, Entry>();

  /** `holdMsMax` is for a pod that fails because of its own request. */
  constructor(clock: Clock, holdMsMax: number) {
    this.#clock = clock;
    this.#holdMsMax = holdMsMax;
  }

  /** The pod's hold. A changed request clears it. */
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

  /** For people; undefined without a failure. */
  failuresOf(pod: string): FailuresView | undefined {
    const entry = this.#entry(pod);
    if (entry === undefined) return undefined;
    const { failures, failure, untilMs } = entry;
    return { failures, failure, nextTryMs: Math.max(0, untilMs - this.#clock.monotonicMs()) };
  }

  /** Whether the pod has failed so often that others go first. A network's failure does not count against the pod. */
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
    // Delete and set, so that the map has the order of the last failures.
    this.#entries.delete(pod);
    this.#entries.set(pod, { wantsHash, failures, failure: kept, lastMs, untilMs });
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > podsMax && oldest !== undefined) this.#entries.delete(oldest);
    return { untilMs, failures, failure: kept };
  }

  succeeded(pod: string): void {
    this.#entries.delete(pod);
  }

  /** A network works again, so the pods that failed because of it, or may have, try at once. */
  networkRecovered(network: string): void {
    for (const [pod, { failure }] of this.#entries) {
      const { cause } = failure;
      if ((cause === "network" || cause === "values") && failure.network === network) this.#entries.delete(pod);
    }
  }

  /** The pods that are held now, those that failed last first, with when they may try again. */
  holds(max: number): readonly HeldPod[] {
    const nowMs = this.#clock.monotonicMs();
    const found: HeldPod[] = [];
    for (const [pod, { failures, failure, untilMs }] of [...this.#entries].toReversed()) {
      if (found.length === max) break;
      if (nowMs < untilMs) found.push({ pod, failures, failure, nextTryMs: untilMs - nowMs });
    }
    return found;
  }

  get heldCount(): number {
    const nowMs = this.#clock.monotonicMs();
    let count = 0;
    for (const { untilMs } of this.#entries.values()) if (nowMs < untilMs) count += 1;
    return count;
  }

  /**
   * Doubles with each failure. A random part between a half and the whole, so that pods that failed together do not
   * retry together. A failure that may pass by itself allows one more try at once.
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
