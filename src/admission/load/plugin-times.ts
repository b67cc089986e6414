import type { Clock } from "../../base/clock.ts";

/** Runs in the median: enough to outvote a burst of slow runs, few enough to follow a change. */
const recentMax = 31;
/** The minimum covers the last one to two windows. After that, a plugin that has become slower gets a new minimum. */
const windowMs = 300_000;
/** With so few runs at once, the time of a run is the plugin's own and not caused by load. */
const calmMax = 2;
/** The assumed time of a network that has not run yet. A chain of plugins seldom takes longer. */
const unknownMedianMs = 1_000;
/** The most networks remembered. The one with the oldest run is forgotten first. A node uses some tens. */
const networksMax = 256;

interface Times {
  readonly recentMs: number[];
  at: number;
  /** Computed on demand, because it changes far more often than it is read. */
  medianMs: number | undefined;
  previousMinMs: number;
  minMs: number;
  isCalm: boolean;
  sinceMs: number;
}

/** The usual time of each network's plugins, and their undisturbed time. */
export class PluginTimes {
  readonly #clock: Clock;
  readonly #networks = new Map<string, Times>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A successful run. `together` is how many ran at once, including this one. */
  ran(network: string, tookMs: number, together: number): void {
    const times = this.#times(network);
    times.recentMs[times.at] = tookMs;
    times.at = (times.at + 1) % recentMax;
    times.medianMs = undefined;
    this.#rotate(times);
    times.minMs = Math.min(times.minMs, tookMs);
    if (together <= calmMax) times.isCalm = true;
  }

  /** Whether a run of the network has succeeded. */
  knows(network: string): boolean {
    return this.#networks.has(network);
  }

  medianMs(network: string): number {
    const times = this.#networks.get(network);
    return times === undefined ? unknownMedianMs : (times.medianMs ??= medianOf(times.recentMs));
  }

  /** The long-term minimum; undefined before the first run. */
  baselineMs(network: string): number | undefined {
    const times = this.#networks.get(network);
    return times === undefined ? undefined : Math.min(times.minMs, times.previousMinMs);
  }

  /** A window without a calm run does not count: a long storm must not become the baseline. */
  #rotate(times: Times): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - times.sinceMs < windowMs || !times.isCalm) return;
    times.previousMinMs = times.minMs;
    times.minMs = Infinity;
    times.isCalm = false;
    times.sinceMs = nowMs;
  }

  #times(network: string): Times {
    const times = this.#networks.get(network) ?? {
      recentMs: [],
      at: 0,
      medianMs: undefined,
      previousMinMs: Infinity,
      minMs: Infinity,
      isCalm: false,
      sinceMs: this.#clock.monotonicMs(),
    };
    this.#networks.delete(network);
    this.#networks.set(network, times);
    const [oldest] = this.#networks.keys();
    if (this.#networks.size > networksMax && oldest !== undefined) this.#networks.delete(oldest);
    return times;
  }
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? unknownMedianMs;
}
