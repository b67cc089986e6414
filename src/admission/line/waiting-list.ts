import type { Waiting } from "./waiting.ts";

/** A doubly linked list, so that a request can leave from any place in one step. */
export class WaitingList {
  #first: Waiting | undefined;
  #last: Waiting | undefined;

  get first(): Waiting | undefined {
    return this.#first;
  }

  get last(): Waiting | undefined {
    return this.#last;
  }

  push(waiting: Waiting): void {
    waiting.previous = this.#last;
    waiting.next = undefined;
    if (this.#last === undefined) this.#first = waiting;
    else this.#last.next = waiting;
    this.#last = waiting;
  }

  remove(waiting: Waiting): void {
    if (waiting.previous === undefined) this.#first = waiting.next;
    else waiting.previous.next = waiting.next;
    if (waiting.next === undefined) this.#last = waiting.previous;
    else waiting.next.previous = waiting.previous;
    waiting.previous = undefined;
    waiting.next = undefined;
  }
}
