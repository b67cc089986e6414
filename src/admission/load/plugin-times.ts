import type { Clock } from "../../base/clock.ts";

/** Runs whose median says what is usual: enough to outvote a burst of slow ones, few enough to follow a change. */
const recentMax = 31;
/** The minimum is of the last one to two of these: a plugin that has become slower for good is believed after that. */
const windowMs = 300_000;
/** With no more at once than this, what a run takes is the plugin's own time and not the load's. */
const calmMax = 2;
/** What is taken for usual before a network has run; a chain of plugins seldom takes longer. */
const unknownMedianMs = 1_000;
/** Networks remembered; those that have not run lately are forgotten first. A node uses some tens. */
const networksMax = 256;

interface Times {
  readonly recentMs: number[];
  at: number;
  /** Undefined until somebody asks: it is wanted far less often than it changes. */
  medianMs: number | undefined;
  previousMinMs: number;
  minMs: number;
  isCalm: boolean;
  sinceMs: number;
}

/** How long each network's delegates usually take, and how long they take when nothing is in their way. */
export class PluginTimes {
  readonly #clock: Clock;
  readonly #networks = new Map<string, Times>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A run that went through. `together` is how many ran at once, itself included. */
  ran(network: string, tookMs: number, together: number): void {
    const times = this.#times(network);
    times.recentMs[times.at] = tookMs;
    times.at = (times.at + 1) % recentMax;
    times.medianMs = undefined;
    this.#rotate(times);
    times.minMs = Math.min(times.minMs, tookMs);
    if (together <= calmMax) times.isCalm = true;
  }

  /** Whether a run of it has gone through. */
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

  /** A window without a single calm run proves nothing: a storm that lasts must not become the measure of itself. */
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
