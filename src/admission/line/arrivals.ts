import type { AdmissionClass } from "../request.ts";
import type { Waiting } from "./waiting.ts";

/** All requests of a line in the order of arrival, and the time at which the next one must leave. */
export class Arrivals {
  readonly #waiting = new Set<Waiting>();
  /** No request must leave before this. Too early after a request has left, never too late. */
  #dueMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#waiting.size;
  }

  [Symbol.iterator](): IterableIterator<Waiting> {
    return this.#waiting.values();
  }

  add(waiting: Waiting): void {
    this.#waiting.add(waiting);
    this.#dueMs = Math.min(this.#dueMs, waiting.untilMs);
  }

  /** Returns false for a request that is not in line. */
  delete(waiting: Waiting): boolean {
    return this.#waiting.delete(waiting);
  }

  get oldest(): Waiting | undefined {
    const [oldest] = this.#waiting;
    return oldest;
  }

  oldestIn(admissionClass: AdmissionClass): Waiting | undefined {
    for (const waiting of this.#waiting) if (waiting.admissionClass === admissionClass) return waiting;
    return undefined;
  }

  /** The requests that must leave before this time. Looks at each request only when one of them is due. */
  before(ms: number): readonly Waiting[] {
    if (ms < this.#dueMs) return [];
    const due: Waiting[] = [];
    this.#dueMs = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting) {
      if (waiting.untilMs <= ms) due.push(waiting);
      else this.#dueMs = Math.min(this.#dueMs, waiting.untilMs);
    }
    return due;
  }
}
