import type { Clock } from "../../../base/clock.ts";
import { newWork, type Work } from "./recovery-work.ts";

/** The work of recovery by key, and the keys of the work that is due, oldest first. */
export class WorkQueue {
  readonly #clock: Pick<Clock, "after">;
  readonly #items = new Map<string, Work>();
  readonly #due = new Set<string>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#items.size;
  }

  get dueCount(): number {
    return this.#due.size;
  }

  has(key: string): boolean {
    return this.#items.has(key);
  }

  /** New work, due at once. Work under the same key that is in progress no longer counts. */
  put(key: string, what: Parameters<typeof newWork>[0]): void {
    this.#items.set(key, newWork(what));
    this.#due.add(key);
  }

  /** The next due work. No other lane gets it until it is postponed or due again. */
  take(): readonly [string, Work] | undefined {
    for (const key of this.#due) {
      this.#due.delete(key);
      const item = this.#items.get(key);
      if (item !== undefined) return [key, item];
    }
    return undefined;
  }

  /** Whether the work is over; false when new work has come under its key. */
  finish(key: string, item: Work): boolean {
    return this.#items.get(key) === item && this.#items.delete(key);
  }

  again(key: string, item: Work): void {
    if (this.#items.get(key) === item) this.#due.add(key);
  }

  /** The pause doubles each time, up to this one. */
  postpone(key: string, item: Work, pauseMsMax: number, onDue: () => void): void {
    const pauseMs = Math.min(item.pauseMs, pauseMsMax);
    item.pauseMs = pauseMs * 2;
    item.attempts += 1;
    this.#clock.after(pauseMs, () => {
      this.again(key, item);
      onDue();
    });
  }
}
