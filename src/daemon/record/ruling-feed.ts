import type { Ruling } from "../../admission/rulings.ts";

/** Carries every ruling of admission to those who show it: metrics, the log, the story of a pod. */
export class RulingFeed {
  readonly #listeners: ((ruling: Ruling) => void)[] = [];

  /** A listener must not throw: it runs in the middle of admission. */
  listen(listener: (ruling: Ruling) => void): void {
    this.#listeners.push(listener);
  }

  tell(ruling: Ruling): void {
    for (const listener of this.#listeners) listener(ruling);
  }
}
