import type { Lane } from "./lane.ts";
import type { Waiting } from "./waiting.ts";
import { WaitingList } from "./waiting-list.ts";

/**
 * One part of the line, divided by lane, so that a blocked network does not hold up the requests behind it. First come,
 * first served, until the oldest is late. Then the newest goes first, because the oldest one's caller is about to give
 * up, and serving it would be wasted.
 */
export class Shard {
  readonly #lanes = new Map<Lane, WaitingList>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(waiting: Waiting): void {
    let list = this.#lanes.get(waiting.lane);
    if (list === undefined) {
      list = new WaitingList();
      this.#lanes.set(waiting.lane, list);
    }
    list.push(waiting);
    this.#size += 1;
  }

  remove(waiting: Waiting): void {
    const list = this.#lanes.get(waiting.lane);
    if (list === undefined) return;
    list.remove(waiting);
    this.#size -= 1;
    if (list.first === undefined) this.#lanes.delete(waiting.lane);
  }

  /** The next request among the lanes that may go. A request from before `lateSinceMs` is late. */
  next(mayGo: (lane: Lane) => boolean, lateSinceMs: number): Waiting | undefined {
    let oldest: Waiting | undefined;
    let newest: Waiting | undefined;
    for (const [lane, list] of this.#lanes) {
      if (!mayGo(lane)) continue;
      oldest = earlier(oldest, list.first);
      newest = later(newest, list.last);
    }
    return oldest !== undefined && isLate(oldest, lateSinceMs) ? newest : oldest;
  }

  newest(): Waiting | undefined {
    return this.next(() => true, Infinity);
  }

  /** How many requests of this shard go first, including some that have already left from the middle. */
  ahead(waiting: Waiting, lateSinceMs: number): number {
    const oldest = this.next(() => true, -Infinity);
    const newest = this.newest();
    if (oldest === undefined || newest === undefined) return 0;
    const between = isLate(oldest, lateSinceMs) ? newest.number - waiting.number : waiting.number - oldest.number;
    return Math.min(this.#size - 1, Math.max(0, between));
  }
}

/** A request that waited for a failing network is not late before its full time after the recovery. */
function isLate({ sinceMs, lane }: Waiting, lateSinceMs: number): boolean {
  return Math.max(sinceMs, lane.clearedMs) < lateSinceMs;
}

function earlier(left: Waiting | undefined, right: Waiting | undefined): Waiting | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left.number < right.number ? left : right;
}

function later(left: Waiting | undefined, right: Waiting | undefined): Waiting | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return left.number > right.number ? left : right;
}
