import type { LeveeError } from "../base/errors.ts";

/** How many plugins the resident hand runs at a time, as docs/protocol.md says. */
const runsMax = 8;

/** The places of the resident hand, which several parts of the daemon use at the same time. */
export class HandPlaces {
  /** One for each record whose chains it undoes, taken before the time for them begins to count. */
  readonly lanes = new Places(runsMax);
  /** One for each run, whoever asks for it. */
  readonly runs = new Places(runsMax);

  close(reason: LeveeError): void {
    this.lanes.close(reason);
    this.runs.close(reason);
  }
}

/** A fixed number of places, given in the order of asking. */
class Places {
  #free: number;
  #waiting: Waiting[] = [];
  #closed: LeveeError | undefined;

  constructor(count: number) {
    this.#free = count;
  }

  /** The caller must dispose the place on every path. Rejects once the places are closed. */
  take(): Promise<Disposable> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve(this.#place());
    }
    return new Promise((resolve, reject) => this.#waiting.push({ take: resolve, reject }));
  }

  close(reason: LeveeError): void {
    this.#closed = reason;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) waiter.reject(reason);
  }

  #place(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#pass();
        isHeld = false;
      },
    };
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next.take(this.#place());
  }
}

interface Waiting {
  take(place: Disposable): void;
  reject(error: LeveeError): void;
}
