import type { PodFacts, WantedPod } from "./facts.ts";

/** Those who wait for a pod to appear, each with its own idea of the right one. */
export class PodWaiters {
  readonly #waiting = new Set<Waiter>();

  get size(): number {
    return this.#waiting.size;
  }

  wait(wanted: WantedPod, signal: AbortSignal): Promise<PodFacts> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        signal.removeEventListener("abort", onAbort);
        this.#waiting.delete(waiter);
      };
      const onAbort = (): void => waiter.reject(signal.reason as Error);
      const waiter: Waiter = {
        wanted,
        resolve(pod) {
          leave();
          resolve(pod);
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

  /** Serves everyone who waits for this pod. Deleting from a set while it is walked is allowed. */
  serve(pod: PodFacts): void {
    for (const waiter of this.#waiting) {
      const { namespace, name, isWanted } = waiter.wanted;
      if (name === pod.name && namespace === pod.namespace && isWanted(pod)) waiter.resolve(pod);
    }
  }

  rejectAll(reason: Error): void {
    for (const waiter of this.#waiting) waiter.reject(reason);
  }
}

interface Waiter {
  readonly wanted: WantedPod;
  readonly resolve: (pod: PodFacts) => void;
  readonly reject: (reason: Error) => void;
}
