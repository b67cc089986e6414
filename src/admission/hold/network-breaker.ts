import type { Clock } from "../../base/clock.ts";

/** Failures in a row that open a network. Fewer would let a plugin's single hiccup hold up the node. */
const failuresMin = 3;
/** Different pods among them: one pod with an impossible address must not close a network to all others. */
const podsMin = 2;
/** One try per this long while it fails: a recovery is seen within it, and a broken plugin costs next to nothing. */
const probeMs = 5_000;
/** Networks remembered; those that have not failed lately are forgotten first. A node uses some tens. */
const networksMax = 256;
/** Of the error that is shown to those who wait for the network. */
const reasonCharsMax = 200;

/** What is known of a network that fails. */
export interface OpenNetwork {
  readonly network: string;
  readonly sinceMs: number;
  readonly failures: number;
  /** The last failure, in its plugin's words. */
  readonly reason: string;
  readonly nextProbeMs: number;
}

interface Trouble {
  failures: number;
  readonly pods: Set<string>;
  reason: string;
  openSinceMs: number | undefined;
  nextProbeMs: number;
}

/** Lets a network that fails for everybody be tried once in a while instead of by everybody. */
export class NetworkBreaker {
  readonly #clock: Clock;
  readonly #troubles = new Map<string, Trouble>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isOpen(network: string): boolean {
    return this.#troubles.get(network)?.openSinceMs !== undefined;
  }

  /** What an open network last failed with; undefined while it works. */
  reason(network: string): string | undefined {
    const trouble = this.#troubles.get(network);
    return trouble?.openSinceMs === undefined ? undefined : trouble.reason;
  }

  /** Whether a request for this network may go: always while it works, else when a probe is due. */
  admits(network: string): boolean {
    const trouble = this.#troubles.get(network);
    if (trouble?.openSinceMs === undefined) return true;
    return this.#clock.monotonicMs() >= trouble.nextProbeMs;
  }

  /** A request for this network goes: while the network is open, that is the probe, and the next is due later. */
  tried(network: string): void {
    const trouble = this.#troubles.get(network);
    if (trouble !== undefined) trouble.nextProbeMs = this.#clock.monotonicMs() + probeMs;
  }

  /** Returns true when this failure opens the network. */
  failed(network: string, pod: string, reason: string): boolean {
    const trouble = this.#trouble(network);
    trouble.failures += 1;
    trouble.reason = reason.slice(0, reasonCharsMax);
    if (trouble.pods.size < podsMin) trouble.pods.add(pod);
    if (trouble.openSinceMs !== undefined || trouble.failures < failuresMin || trouble.pods.size < podsMin)
      return false;
    trouble.openSinceMs = this.#clock.monotonicMs();
    trouble.nextProbeMs = trouble.openSinceMs + probeMs;
    return true;
  }

  /** Returns true when this success closes the network again. */
  succeeded(network: string): boolean {
    const wasOpen = this.isOpen(network);
    this.#troubles.delete(network);
    return wasOpen;
  }

  /** Those that are open now, for metrics and for people. */
  open(): readonly OpenNetwork[] {
    return [...this.#troubles].flatMap(([network, { openSinceMs, failures, reason, nextProbeMs }]) =>
      openSinceMs === undefined ? [] : [{ network, sinceMs: openSinceMs, failures, reason, nextProbeMs }],
    );
  }

  #trouble(network: string): Trouble {
    const trouble = this.#troubles.get(network) ?? {
      failures: 0,
      pods: new Set<string>(),
      reason: "",
      openSinceMs: undefined,
      nextProbeMs: 0,
    };
    // Set again, so that the map's order is that of the last failure.
    this.#troubles.delete(network);
    this.#troubles.set(network, trouble);
    const [oldest] = this.#troubles.keys();
    if (this.#troubles.size > networksMax && oldest !== undefined) this.#troubles.delete(oldest);
    return trouble;
  }
}
