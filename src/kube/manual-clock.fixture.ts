import type { Cancel, Clock } from "../base/clock.ts";

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** Time that passes only when a test says so. */
export class ManualClock implements Clock {
  #nowMs = 0;
  #timers: Timer[] = [];
  /** What the next calls of `random` return. */
  chance = 0;

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  random(): number {
    return this.chance;
  }

  randomBytes(length: number): Uint8Array {
    return new Uint8Array(length);
  }

  after(ms: number, callback: () => void): Cancel {
    const timer = { atMs: this.#nowMs + ms, fire: callback };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  every(ms: number, callback: () => void): Cancel {
    let cancel = this.after(ms, function again(this: void) {
      callback();
      cancel = clock.after(ms, again);
    });
    const clock = this as Clock;
    return () => cancel();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const cancel = this.after(ms, resolve);
      signal?.addEventListener("abort", () => {
        cancel();
        reject(signal.reason as Error);
      });
    });
  }

  /** Lets time pass, timer by timer, and everything happen that they set off. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      const due = next;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#nowMs = due.atMs;
      due.fire();
      await settle();
    }
    this.#nowMs = endMs;
  }

  #next(endMs: number): Timer | undefined {
    return this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((left, right) => left.atMs - right.atMs)[0];
  }
}

/** Until nothing is left to do without time passing; several turns, as one promise leads to another. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
