import type { Clock } from "../base/clock.ts";

/** Somebody who has removed the conf five times in ten minutes will do it again. */
const mendsMax = 5;
const windowMs = 600_000;
/** Between two mends, doubled each time: the other side must not be met with a reload of the runtime per second. */
const firstPauseMs = 1_000;
/** After giving up: whoever removed it may have been told to stop, so it is tried once in a while. */
const truceMs = 3_600_000;

/** How often the conf may be put back after somebody else took it away. */
export class Mending {
  readonly #clock: Clock;
  #mendsMs: number[] = [];
  #truceEndsMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long to wait before the next mend; 0 for none. */
  waitMs(): number {
    const nowMs = this.#clock.monotonicMs();
    if (this.#truceEndsMs !== undefined) return Math.max(0, this.#truceEndsMs - nowMs);
    const last = this.#recent().at(-1);
    const pauseMs = firstPauseMs * 2 ** (this.#mendsMs.length - 1);
    return last === undefined ? 0 : Math.max(0, last + pauseMs - nowMs);
  }

  mended(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#mendsMs = [...this.#recent(), nowMs];
    this.#truceEndsMs = this.#mendsMs.length >= mendsMax ? nowMs + truceMs : undefined;
  }

  /** It was mended too often to be mended again soon. */
  get isContested(): boolean {
    return this.#truceEndsMs !== undefined && this.#clock.monotonicMs() < this.#truceEndsMs;
  }

  /** Mends within the window. */
  get count(): number {
    return this.#recent().length;
  }

  #recent(): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - windowMs;
    this.#mendsMs = this.#mendsMs.filter((mendMs) => mendMs > sinceMs);
    return this.#mendsMs;
  }
}
