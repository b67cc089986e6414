import type { Cancel, Clock } from "../../base/clock.ts";
import type { Seeded } from "./seeded.ts";
import type { SimTime } from "./sim-time.ts";

/** The shortest time of a real timer. */
const timerMsMin = 1;

/**
 * A process of the simulated node, as the clock that its code is given. A killed process does nothing any more: none of
 * its timers fires, and what it waits for never comes.
 */
export class SimProcess implements Clock {
  readonly #time: SimTime;
  readonly #seeded: Seeded;
  #isAlive = true;

  constructor(time: SimTime, seeded: Seeded) {
    this.#time = time;
    this.#seeded = seeded;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  kill(): void {
    this.#isAlive = false;
  }

  monotonicMs(): number {
    return this.#time.nowMs;
  }

  wallMs(): number {
    return this.#time.wallMs;
  }

  after(ms: number, callback: () => void): Cancel {
    return this.soon(Math.max(timerMsMin, ms), callback);
  }

  /** The same for what needs no timer: a device or a socket answers within microseconds. */
  soon(ms: number, callback: () => void): Cancel {
    return this.#time.after(ms, callback, this);
  }

  every(ms: number, callback: () => void): Cancel {
    let cancel: Cancel = () => undefined;
    const again = (): void => {
      if (!this.#isAlive) return;
      cancel = this.#time.after(Math.max(timerMsMin, ms), again);
      callback();
    };
    cancel = this.#time.after(Math.max(timerMsMin, ms), again);
    return () => cancel();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        cancel();
        reject(signal?.reason as Error);
      };
      const cancel = this.after(ms, () => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  random(): number {
    return this.#seeded.next();
  }

  randomBytes(length: number): Uint8Array {
    return this.#seeded.bytes(length);
  }
}
