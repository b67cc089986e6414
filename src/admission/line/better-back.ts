import type { Line } from "./line.ts";
import type { Waiting } from "./waiting.ts";

/** The kubelet brings a refused pod back after 10 to 15 s. */
const backMs = 10_000;
/** The estimate is rough. A turn that is so much later than the end of the wait is certain to be too late. */
const doubt = 1.25;
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
    return [...line.arrivals].filter((waiting) => {
      const turnMs = (line.ahead(waiting) + 1) * msPerCall;
      const leftMs = waiting.untilMs - nowMs;
      const gains = leftMs > backMs && turnMs - backMs <= (waiting.untilMs - waiting.sinceMs) / doubt;
      return gains && turnMs > leftMs * doubt;
    });
  }
}
