import { attachClasses, type AdmissionClass } from "../request.ts";
import type { Line } from "./line.ts";
import type { Waiting } from "./waiting.ts";

/** The kubelet brings a refused pod back after 10 to 15 s. */
const backMs = 10_000;
/**
 * The estimate is rough, and a call that is sent away in vain costs a whole sandbox. So its turn must be certain to
 * come too late, and its next try certain to succeed.
 */
const lateFactor = 2;
const servedFactor = 1.25;
/** The line is looked through so often. Its rate changes slowly. */
const lookMs = 1_000;

/**
 * Finds the calls that will not be served in time and gain from coming back now: their turn is so near that they are
 * served at their next try. A call whose turn is further away gains nothing. It would come back in vain every 10 to
 * 15 s, and each time costs the kubelet and the runtime a whole sandbox; so it stays until its turn is near enough.
 */
export class BetterBack {
  #nextMs = 0;

  find(line: Line, nowMs: number): readonly Waiting[] {
    const { msPerCall } = line;
    if (nowMs < this.#nextMs || msPerCall === undefined) return [];
    this.#nextMs = nowMs + lookMs;
    const turns = new Turns(line.arrivals);
    return [...line.arrivals].filter((waiting) => {
      const turnMs = turns.next(waiting) * msPerCall;
      const [leftMs, wholeMs] = [waiting.untilMs - nowMs, waiting.untilMs - waiting.sinceMs];
      const gains = leftMs > backMs && turnMs - backMs <= wholeMs / servedFactor;
      return gains && turnMs > leftMs * lateFactor;
    });
  }
}

/** The turn of each request, exactly: `Line.ahead` also counts requests that have left from the middle. */
class Turns {
  readonly #waiting = new Counts();
  readonly #before = new Counts();

  constructor(all: Iterable<Waiting>) {
    for (const waiting of all) this.#waiting.add(waiting);
  }

  /** To be asked in the order of arrival. Namespaces take turns, and higher classes go first. */
  next(waiting: Waiting): number {
    const { admissionClass, request } = waiting;
    const own = this.#before.add(waiting);
    let turn = own;
    for (const [namespace, count] of this.#waiting.of(admissionClass))
      if (namespace !== request.namespace) turn += Math.min(count, own);
    for (const above of attachClasses) {
      if (above === admissionClass) break;
      for (const count of this.#waiting.of(above).values()) turn += count;
    }
    return turn;
  }
}

/** Requests by class and namespace. */
class Counts {
  readonly #counts = new Map<AdmissionClass, Map<string, number>>();

  of(admissionClass: AdmissionClass): ReadonlyMap<string, number> {
    return this.#counts.get(admissionClass) ?? new Map<string, number>();
  }

  /** The new number. */
  add({ admissionClass, request }: Waiting): number {
    const counts = this.#counts.get(admissionClass) ?? new Map<string, number>();
    this.#counts.set(admissionClass, counts);
    const count = (counts.get(request.namespace) ?? 0) + 1;
    counts.set(request.namespace, count);
    return count;
  }
}
