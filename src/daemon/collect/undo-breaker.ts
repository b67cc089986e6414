import type { Clock } from "../../base/clock.ts";

const windowMs = 60_000;

/** Bounds how much garbage collection may take away in a minute: a list that is wrong must not empty the node. */
export class UndoBreaker {
  readonly #clock: Clock;
  #doneMs: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As many of the candidates as the limit of this minute still allows; they count from now on. */
  admit<T>(candidates: readonly T[], limit: number): readonly T[] {
    const nowMs = this.#clock.monotonicMs();
    this.#doneMs = this.#doneMs.filter((doneMs) => nowMs - doneMs < windowMs);
    const admitted = candidates.slice(0, Math.max(0, limit - this.#doneMs.length));
    this.#doneMs.push(...admitted.map(() => nowMs));
    return admitted;
  }
}
