/** Callers that wait for a value to appear, each with its own test for the right one. */
export class Waiters<Value> {
  readonly #waiting = new Set<Waiter<Value>>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves with the first wanted value that is served; rejects with the signal's reason when the signal is aborted. */
  wait(isWanted: (value: Value) => boolean, signal: AbortSignal): Promise<Value> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(waiter);
      };
      const onAbort = (): void => waiter.reject(signal.reason as Error);
      const waiter: Waiter<Value> = {
        isWanted,
        resolve(value) {
          leave();
          resolve(value);
        },
        reject(reason) {
          leave();
          reject(reason);
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Resolves every caller that waits for this value. Each one leaves the set meanwhile, which a set allows. */
  serve(value: Value): void {
    for (const waiter of this.#waiting) if (waiter.isWanted(value)) waiter.resolve(value);
  }

  rejectAll(reason: Error): void {
    for (const waiter of this.#waiting) waiter.reject(reason);
  }
}

interface Waiter<Value> {
  readonly isWanted: (value: Value) => boolean;
  readonly resolve: (value: Value) => void;
  readonly reject: (reason: Error) => void;
}
