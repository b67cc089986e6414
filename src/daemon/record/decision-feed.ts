import type { Decision } from "../../admission/decisions.ts";

/** Carries every decision of admission to those who show it: metrics, the log, the story of a pod. */
export class DecisionFeed {
  readonly #listeners: ((decision: Decision) => void)[] = [];

  /** A listener must not throw: it runs in the middle of admission. */
  listen(listener: (decision: Decision) => void): void {
    this.#listeners.push(listener);
  }

  tell(decision: Decision): void {
    for (const listener of this.#listeners) listener(decision);
  }
}
