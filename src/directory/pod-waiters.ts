import type { PodFacts } from "./facts.ts";

/** Those who wait for a pod to appear, by `namespace/name`, each with its own idea of the right one. */
export class PodWaiters {
  readonly #waiting = new Map<string, Set<Waiter>>();

  get size(): number {
    return this.#waiting.size;
  }

  wait(key: string, isWanted: (pod: PodFacts) => boolean, signal: AbortSignal): Promise<PodFacts> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#remove(key, waiter);
      };
      const onAbort = (): void => waiter.reject(signal.reason as Error);
      const waiter: Waiter = {
        isWanted,
        resolve(pod) {
          leave();
          resolve(pod);
        },
        reject(reason) {
          leave();
          reject(reason);
        },
      };
      this.#waiting.set(key, (this.#waiting.get(key) ?? new Set()).add(waiter));
      signal.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Serves everyone whose pod is there now. */
  serve(pods: ReadonlyMap<string, PodFacts>): void {
    for (const [key, waiters] of [...this.#waiting]) {
      const pod = pods.get(key);
      if (pod === undefined) continue;
      for (const waiter of [...waiters]) if (waiter.isWanted(pod)) waiter.resolve(pod);
    }
  }

  rejectAll(reason: Error): void {
    for (const waiters of [...this.#waiting.values()]) for (const waiter of [...waiters]) waiter.reject(reason);
  }

  #remove(key: string, waiter: Waiter): void {
    const waiters = this.#waiting.get(key);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#waiting.delete(key);
  }
}

interface Waiter {
  readonly isWanted: (pod: PodFacts) => boolean;
  readonly resolve: (pod: PodFacts) => void;
  readonly reject: (reason: Error) => void;
}
