import type { Cancel } from "../../base/clock.ts";

interface Due {
  readonly atUs: number;
  /** Of two at one instant, the earlier one goes first. */
  readonly number: number;
  readonly fire: () => void;
  isCancelled: boolean;
}

/** Fewer cancelled ones are left where they are. */
const cancelledMin = 64;

/** 2023-11-14. Any fixed date does, as long as every run has the same. */
export const usualWallStartMs = 1_700_000_000_000;

/**
 * The only time of a simulated world. It stands still while code runs, and jumps to the next thing that is due. All
 * waiting goes through here, so nothing depends on the machine: promises run in a fixed order, and nothing else is
 * asynchronous.
 */
export class SimTime {
  /** Whole microseconds, so that a sum of times is the same in any order. */
  #nowUs = 0;
  readonly #wallStartMs: number;
  #numbers = 0;
  /** A heap: the next one is first. */
  #due: Due[] = [];
  /** How many of them were cancelled. */
  #cancelled = 0;

  constructor(wallStartMs = usualWallStartMs) {
    this.#wallStartMs = wallStartMs;
  }

  get nowMs(): number {
    return this.#nowUs / 1_000;
  }

  get wallMs(): number {
    return this.#wallStartMs + Math.floor(this.#nowUs / 1_000);
  }

  /** How many things have happened. */
  steps = 0;

  /** What is due in an infinite time never happens. */
  after(ms: number, fire: () => void): Cancel {
    if (ms === Number.POSITIVE_INFINITY) return () => undefined;
    const atUs = this.#nowUs + Math.ceil(Math.max(0, ms) * 1_000);
    const due: Due = { atUs, number: (this.#numbers += 1), fire, isCancelled: false };
    this.#push(due);
    return () => this.#cancel(due);
  }

  /** Lets time pass until `endMs`, or until `isOver`, which is asked after everything that happens. */
  async run(endMs: number, isOver: () => boolean): Promise<void> {
    await settled();
    const endUs = Math.ceil(endMs * 1_000);
    for (;;) {
      if (isOver()) return;
      const next = this.#due[0];
      if (next === undefined || next.atUs > endUs) break;
      this.#pop();
      if (next.isCancelled) {
        this.#cancelled -= 1;
        continue;
      }
      // What has happened is not counted when it is cancelled later.
      next.isCancelled = true;
      this.#nowUs = next.atUs;
      this.steps += 1;
      next.fire();
      await settled();
    }
    this.#nowUs = endUs;
  }

  /** Most timers are limits that are not reached, so those of what is done are thrown out when they are half of all. */
  #cancel(due: Due): void {
    if (due.isCancelled) return;
    due.isCancelled = true;
    this.#cancelled += 1;
    if (this.#cancelled < cancelledMin || 2 * this.#cancelled < this.#due.length) return;
    this.#cancelled = 0;
    // A list in order is a heap.
    this.#due = this.#due
      .filter(({ isCancelled }) => !isCancelled)
      .toSorted((one, other) => (isBefore(one, other) ? -1 : 1));
  }

  #push(due: Due): void {
    const heap = this.#due;
    let at = heap.push(due) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(heap[parent], due)) break;
      heap[at] = heap[parent] ?? due;
      at = parent;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#due;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      const child = right < heap.length && isBefore(heap[right], heap[left]) ? right : left;
      const found = heap[child];
      if (found === undefined || isBefore(last, found)) break;
      heap[at] = found;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(left: Due | undefined, right: Due | undefined): boolean {
  if (left === undefined || right === undefined) return left !== undefined;
  return left.atUs < right.atUs || (left.atUs === right.atUs && left.number < right.number);
}

/** Resolves when every promise that can go on has gone on: those run before the event loop turns. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
