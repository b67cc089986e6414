import { deadline, type Clock } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";

export interface PermitLimits {
  /** How many may run at once. */
  readonly ceiling: number;
  /** How many may wait; beyond that the answer is "not now" at once. */
  readonly waitingMax: number;
  /** How long one may wait. */
  readonly waitMsMax: number;
  /** What is being admitted, for the sentence. */
  readonly what: string;
}

/** A fixed ceiling with a bounded, first-come queue. A permit is released by `using`, on every path. */
export class Permits {
  readonly #clock: Clock;
  readonly #limits: PermitLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(clock: Clock, limits: PermitLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#running < this.#limits.ceiling) return this.#start();
    const { waitingMax, waitMsMax, what } = this.#limits;
    if (this.#waiting.length >= waitingMax) {
      throw new LeveeError("try-later", `Cannot queue another ${what} as ${waitingMax} are waiting already`);
    }
    const position = this.#waiting.length + 1;
    using limit = deadline(
      this.#clock,
      waitMsMax,
      () =>
        new LeveeError("try-later", `${what} waited ${waitMsMax} ms at position ${position} and is given up for now`),
      signal,
    );
    await this.#waitTurn(limit.signal);
    return this.#permit();
  }

  #start(): Disposable {
    this.#running += 1;
    return this.#permit();
  }

  /** The slot passes from the one who leaves to the one who waits, so `running` does not change in between. */
  #waitTurn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(granted), 1);
        reject(signal.reason as Error);
      };
      const granted = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      this.#waiting.push(granted);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  #permit(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        const next = this.#waiting.shift();
        if (next === undefined) this.#running -= 1;
        else next();
      },
    };
  }
}
