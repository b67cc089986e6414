import type { Cancel } from "../../base/clock.ts";
import { SimProcess } from "../time/sim-process.ts";
import type { Seeded } from "../time/seeded.ts";
import type { SimTime } from "../time/sim-time.ts";

/**
 * A process that can stand still for a while, as by SIGSTOP or on a host that is overloaded: time goes on, and its timers
 * and answers come when it runs again. What it has sent is on its way all the same.
 */
export class PausableProcess extends SimProcess {
  /** How far its wall clock is ahead of the others'. */
  readonly #aheadMs: number;
  readonly #time: SimTime;
  #isPaused = false;
  #late: (() => void)[] = [];

  constructor(time: SimTime, seeded: Seeded, aheadMs: number) {
    super(time, seeded);
    this.#time = time;
    this.#aheadMs = aheadMs;
  }

  override wallMs(): number {
    return super.wallMs() + this.#aheadMs;
  }

  override soon(ms: number, callback: () => void): Cancel {
    let isCancelled = false;
    const cancel = super.soon(ms, () => {
      if (!this.#isPaused) callback();
      else this.#late.push(() => isCancelled || callback());
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  override every(ms: number, callback: () => void): Cancel {
    let cancel: Cancel = () => undefined;
    const again = (): void => {
      cancel = this.after(ms, again);
      callback();
    };
    cancel = this.after(ms, again);
    return () => cancel();
  }

  pause(): void {
    this.#isPaused = true;
  }

  /** Everything that is late happens now, in its order. */
  resume(): void {
    this.#isPaused = false;
    const late = this.#late;
    this.#late = [];
    for (const callback of late)
      this.#time.after(0, () => this.isAlive && (this.#isPaused ? this.#late.push(callback) : callback()));
  }
}
