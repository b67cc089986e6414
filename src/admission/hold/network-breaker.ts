import type { Clock } from "../../base/clock.ts";
import { saltedHash } from "../line/salted-hash.ts";
import type { PluginAnswer } from "./retry-budget.ts";

/** Consecutive failures that open a network. With fewer, one hiccup of a plugin would hold up the node. */
const failuresMin = 3;
/** Different pods among them, because one pod with an impossible address must not block the network for others. */
const podsMin = 2;
/** The time between two probes: short enough to see a recovery soon, long enough that a broken plugin costs little. */
const probeMs = 5_000;
/** The most networks remembered. The one with the oldest failure is forgotten first. A node uses some tens. */
const networksMax = 256;
/** Namespaces whose last refused values are remembered per network. Two that heard the same are enough. */
const namespacesMax = 8;
/** Length of the reason shown to calls that wait for the network. */
const reasonCharsMax = 200;

/** A network that fails for every pod. */
export interface OpenNetwork {
  readonly network: string;
  readonly sinceMs: number;
  readonly failures: number;
  /** The last failure in the plugin's words. */
  readonly reason: string;
  readonly nextProbeMs: number;
}

interface Trouble {
  failures: number;
  readonly pods: Set<string>;
  reason: string;
  openSinceMs: number | undefined;
  nextProbeMs: number;
  /** A hash of the last answer of a plugin that had got no pod's own values. */
  words: number | undefined;
  /** The last answer to a pod's own values, by namespace. */
  readonly refusals: Map<string, Refusal>;
}

/** Hashes, because a pod's own values may have many KiB. */
interface Refusal {
  readonly words: number;
  readonly values: number;
}

/** Lets only a probe try a failing network now and then, instead of every call. */
export class NetworkBreaker {
  readonly #clock: Clock;
  readonly #troubles = new Map<string, Trouble>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isOpen(network: string): boolean {
    return this.#troubles.get(network)?.openSinceMs !== undefined;
  }

  /** The last failure of an open network; undefined while it works. */
  reason(network: string): string | undefined {
    const trouble = this.#troubles.get(network);
    return trouble?.openSinceMs === undefined ? undefined : trouble.reason;
  }

  /** Whether a request for this network may go: always while it works, otherwise when a probe is due. */
  admits(network: string): boolean {
    const trouble = this.#troubles.get(network);
    if (trouble?.openSinceMs === undefined) return true;
    return this.#clock.monotonicMs() >= trouble.nextProbeMs;
  }

  /** A request for this network goes. While the network is open, this is the probe, and the next one is due later. */
  tried(network: string): void {
    const trouble = this.#troubles.get(network);
    if (trouble !== undefined) trouble.nextProbeMs = this.#clock.monotonicMs() + probeMs;
  }

  /**
   * Whether a plugin's answer counts against the network. An answer to values that only the pod asked for may be the
   * pod's own failure. It counts when a plugin without such values gave the same one, or when a pod of another namespace
   * got it for other values. Pods of one namespace are not enough, because one user may have made all of them.
   */
  counts(network: string, namespace: string, answer: PluginAnswer): boolean {
    const trouble = this.#trouble(network);
    const words = saltedHash(answer.words, 0);
    if (answer.values === "") {
      trouble.words = words;
      return true;
    }
    const { refusals } = trouble;
    const values = saltedHash(answer.values, 0);
    refusals.delete(namespace);
    const isShared = [...refusals.values()].some((other) => other.words === words && other.values !== values);
    refusals.set(namespace, { words, values });
    const [oldest] = refusals.keys();
    if (refusals.size > namespacesMax && oldest !== undefined) refusals.delete(oldest);
    return isShared || trouble.words === words;
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
      words: undefined,
      refusals: new Map<string, Refusal>(),
    };
    // Delete and set, so that the map has the order of the last failures.
    this.#troubles.delete(network);
    this.#troubles.set(network, trouble);
    const [oldest] = this.#troubles.keys();
    if (this.#troubles.size > networksMax && oldest !== undefined) this.#troubles.delete(oldest);
    return trouble;
  }
}
