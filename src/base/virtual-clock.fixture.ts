import type { Cancel, Clock } from "./clock.ts";

interface Timer {
  readonly atMs: number;
  /** Timers of one instant fire in the order they were set. */
  readonly number: number;
  readonly fire: () => void;
  isCancelled: boolean;
}

/** Time passes only when a test advances it, and randomness comes from a seed: the same seed gives the same run. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #seed: number;
  #numbers = 0;
  readonly #timers: Timer[] = [];

  constructor(seed = 1) {
    this.#seed = seed;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  /** A small generator with a full period over 32 bits (mulberry32). */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), this.#seed | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  randomBytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.random() * 256));
  }

  after(ms: number, callback: () => void): Cancel {
    const timer: Timer = { atMs: this.#nowMs + ms, number: (this.#numbers += 1), fire: callback, isCancelled: false };
    const at = this.#timers.findLastIndex((other) => other.atMs <= timer.atMs);
    this.#timers.splice(at + 1, 0, timer);
    return () => {
      timer.isCancelled = true;
    };
  }

  every(ms: number, callback: () => void): Cancel {
    let cancel = this.after(ms, () => again());
    const again = (): void => {
      cancel = this.after(ms, () => again());
      callback();
    };
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

  /** How many timers are set; a test that ends should leave none. */
  get timers(): number {
    return this.#timers.filter((timer) => !timer.isCancelled).length;
  }

  /** Advances timer by timer, and waits each time for the work that the timer starts. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await this.settled();
    for (let next = this.#timers[0]; next !== undefined && next.atMs <= endMs; next = this.#timers[0]) {
      this.#timers.shift();
      if (next.isCancelled) continue;
      this.#nowMs = next.atMs;
      next.fire();
      await this.settled();
    }
    this.#nowMs = endMs;
  }

  /** Resolves when the work that a timer started is done. */
  protected settled(): Promise<void> {
    return settle();
  }
}

/** Resolves when settled promises have run their callbacks. It takes several turns, because one leads to another. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
}
