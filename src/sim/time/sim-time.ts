import type { Cancel } from "../../base/clock.ts";

/** What is due to a dead one happens to nobody. */
interface Mortal {
  readonly isAlive: boolean;
}

interface Due {
  readonly atUs: number;
  /** Of two at one instant, the earlier one goes first. */
  readonly number: number;
  readonly fire: () => void;
  readonly owner: Mortal | undefined;
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
  readonly #stepsPerTurn: number;
  #numbers = 0;
  /** A heap: the next one is first. */
  #due: Due[] = [];
  /** How many of them were cancelled. */
  #cancelled = 0;

  /**
   * `stepsPerTurn`: after so many steps the event loop turns, where the engine tells of a rejection that nobody handles.
   * A turn takes longer than a small step.
   */
  constructor(wallStartMs = usualWallStartMs, stepsPerTurn = 1) {
    this.#wallStartMs = wallStartMs;
    this.#stepsPerTurn = stepsPerTurn;
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
  after(ms: number, fire: () => void, owner?: Mortal): Cancel {
    if (ms === Number.POSITIVE_INFINITY) return () => undefined;
    const atUs = this.#nowUs + Math.ceil(Math.max(0, ms) * 1_000);
    const due: Due = { atUs, number: (this.#numbers += 1), fire, owner, isCancelled: false };
    this.#push(due);
    return () => this.#cancel(due);
  }

  /** Lets time pass until `endMs`, or until `isOver`, which is asked after everything that happens. */
  async run(endMs: number, isOver: () => boolean): Promise<void> {
    await turned();
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
      if (next.owner?.isAlive !== false) next.fire();
      await (this.steps % this.#stepsPerTurn === 0 ? turned() : settled());
    }
    await turned();
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
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || isBefore(parent, due)) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = due;
  }

  #pop(): void {
    const heap = this.#due;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let found = child < heap.length ? heap[child] : undefined;
      if (found === undefined) break;
      const right = child + 1 < heap.length ? heap[child + 1] : undefined;
      if (right !== undefined && isBefore(right, found)) {
        child += 1;
        found = right;
      }
      if (isBefore(last, found)) break;
      heap[at] = found;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(left: Due, right: Due): boolean {
  return left.atUs < right.atUs || (left.atUs === right.atUs && left.number < right.number);
}

/** Resolves when every promise that can go on has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve);
  });
}

/** The same, and the event loop has turned. */
function turned(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
