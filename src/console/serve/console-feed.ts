import type { Cancel, Clock } from "../../base/clock.ts";
import type { ConsoleChange, ConsoleSnapshot } from "../../wire/console-view.ts";
import { ChangeFinder } from "../view/change-finder.ts";

/** Everything but what each viewer has of his own. */
export type ConsoleParts = Omit<ConsoleSnapshot, "revision" | "viewer">;

/** A change is told within this time, so that a waiting pod is seen within two seconds. */
const tickMs = 500;

export type FeedListener = (change: ConsoleChange, text: string) => void;

/**
 * Looks at the store twice a second while somebody follows, and tells all followers what changed. Every follower has the
 * same revisions, so one text serves all.
 */
export class ConsoleFeed {
  readonly #clock: Clock;
  readonly #parts: () => ConsoleParts;
  readonly #listeners = new Set<FeedListener>();
  #finder: ChangeFinder | undefined;
  #revision = 0;
  #stopTicks: Cancel | undefined;

  constructor(clock: Clock, parts: () => ConsoleParts) {
    this.#clock = clock;
    this.#parts = parts;
  }

  get revision(): number {
    return this.#revision;
  }

  /** The present state. Changes after it go to the listener until it is cancelled. */
  follow(listener: FeedListener): { readonly parts: ConsoleParts; readonly revision: number; readonly stop: Cancel } {
    // The others first: the new one's snapshot has everything up to this revision.
    this.#tick();
    this.#listeners.add(listener);
    this.#stopTicks ??= this.#clock.every(tickMs, () => this.#tick());
    const parts = this.#finder?.parts ?? this.#parts();
    return { parts, revision: this.#revision, stop: () => this.#leave(listener) };
  }

  close(): void {
    this.#listeners.clear();
    this.#rest();
  }

  #leave(listener: FeedListener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size === 0) this.#rest();
  }

  /** Nobody follows: nothing is computed, and the next follower begins with a fresh look. */
  #rest(): void {
    this.#stopTicks?.();
    this.#stopTicks = undefined;
    this.#finder = undefined;
  }

  #tick(): void {
    const parts = this.#parts();
    if (this.#finder === undefined) {
      this.#finder = new ChangeFinder(parts);
      this.#revision += 1;
      return;
    }
    const found = this.#finder.next(parts);
    if (found === undefined) return;
    this.#revision += 1;
    const change: ConsoleChange = { ...found, revision: this.#revision };
    const text = JSON.stringify(change);
    for (const listener of [...this.#listeners]) listener(change, text);
  }
}
