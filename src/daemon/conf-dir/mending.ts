import type { Clock } from "../../base/clock.ts";

/** Somebody who has removed the conf five times in ten minutes will do it again. */
const mendsMax = 5;
const windowMs = 600_000;
/** Who makes a list of the conf removes it a moment before the list is there; that is no reason to put it back. */
const doubtMs = 1_000;
/** Between two mends, doubled each time: the other side must not be met with a reload of the runtime per second. */
const firstPauseMs = 1_000;
/** After giving up: whoever removed it may have been told to stop, so it is tried once in a while. */
const truceMs = 3_600_000;

/** How often the conf may be put back after somebody else took it away. */
export class Mending {
  readonly #clock: Clock;
  #mendsMs: readonly number[] = [];
  #missedMs: number | undefined;
  #truceEndsMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The conf is not as it should be: how long to wait before it is mended; 0 for no longer. */
  waitMs(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#missedMs ??= nowMs;
    const recent = this.#recent();
    const pauseMs = firstPauseMs * 2 ** (recent.length - 1);
    const dueMs = this.#truceEndsMs ?? (recent.at(-1) ?? 0) + pauseMs;
    return Math.max(0, this.#missedMs + doubtMs - nowMs, dueMs - nowMs);
  }

  /** It is as it should be. */
  calm(): void {
    this.#missedMs = undefined;
  }

  mended(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#missedMs = undefined;
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
