import type { Clock } from "../../base/clock.ts";

const windowMs = 60_000;

/** Bounds how much garbage collection may undo in a minute: a wrong list must not empty the node. */
export class UndoBreaker {
  readonly #clock: Clock;
  #doneMs: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns as many candidates as the limit of this minute still allows, and counts them. */
  admit<T>(candidates: readonly T[], limit: number): readonly T[] {
    const nowMs = this.#clock.monotonicMs();
    this.#doneMs = this.#doneMs.filter((doneMs) => nowMs - doneMs < windowMs);
    const admitted = candidates.slice(0, Math.max(0, limit - this.#doneMs.length));
    this.#doneMs.push(...admitted.map(() => nowMs));
    return admitted;
  }
}
