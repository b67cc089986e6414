import type { Clock } from "../../base/clock.ts";

/** A program that removed the conf five times in ten minutes will do it again. */
const mendsMax = 5;
const windowMs = 600_000;
/** A program that makes a list of the conf removes the conf a moment before it writes the list. */
const doubtMs = 1_000;
/** Between two mends, doubled each time: a fight over the file must not reload the runtime every second. */
const firstPauseMs = 1_000;
/** After the last mend: the other program may have been reconfigured by then, so one more mend is worth trying. */
const truceMs = 3_600_000;

/** Limits how often the conf is put back after another program took it away. */
export class Mending {
  readonly #clock: Clock;
  #mendsMs: readonly number[] = [];
  #missedMs: number | undefined;
  #truceEndsMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The conf is wrong: how long to wait before mending it. */
  waitMs(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#missedMs ??= nowMs;
    const recent = this.#recent();
    const pauseMs = firstPauseMs * 2 ** (recent.length - 1);
    const dueMs = this.#truceEndsMs ?? (recent.at(-1) ?? 0) + pauseMs;
    return Math.max(0, this.#missedMs + doubtMs - nowMs, dueMs - nowMs);
  }

  /** The conf is right. */
  calm(): void {
    this.#missedMs = undefined;
  }

  mended(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#missedMs = undefined;
    this.#mendsMs = [...this.#recent(), nowMs];
    this.#truceEndsMs = this.#mendsMs.length >= mendsMax ? nowMs + truceMs : undefined;
  }

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
