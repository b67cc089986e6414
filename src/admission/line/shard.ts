import type { Lane } from "./lane.ts";
import type { Waiting } from "./waiting.ts";
import { WaitingList } from "./waiting-list.ts";

/**
 * One part of the line, divided by lane, so that a blocked network does not hold up the requests behind it. First come,
 * first served: a request leaves the line while its caller still has time for the work, so the oldest is worth serving.
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

  /** The oldest request among the lanes that may go. */
  oldest(mayGo: (lane: Lane) => boolean = () => true): Waiting | undefined {
    let oldest: Waiting | undefined;
    for (const [lane, list] of this.#lanes) {
      const { first } = list;
      if (first !== undefined && mayGo(lane) && (oldest === undefined || first.number < oldest.number)) oldest = first;
    }
    return oldest;
  }

  newest(): Waiting | undefined {
    let newest: Waiting | undefined;
    for (const { last } of this.#lanes.values())
      if (last !== undefined && (newest === undefined || last.number > newest.number)) newest = last;
    return newest;
  }

  /** How many requests of this shard go first, including some that have already left from the middle. */
  ahead(waiting: Waiting): number {
    const oldest = this.oldest();
    return oldest === undefined ? 0 : Math.min(this.#size - 1, Math.max(0, waiting.number - oldest.number));
  }
}
