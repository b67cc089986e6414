import { toLeveeError, type LeveeError } from "../../base/errors.ts";

/** Several DELs of one attachment share one run: the first does the work, the others wait for its outcome. */
export class SharedDeletes {
  readonly #running = new Map<string, Promise<Outcome>>();

  /** Runs `work`, or joins the run under way. When the first DEL loses its shim, one that waits does the work. */
  async run(key: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    for (;;) {
      const running = this.#running.get(key);
      if (running === undefined) return this.#lead(key, work);
      const outcome = await Promise.race([running, gone(signal)]);
      if (outcome.error === undefined) return;
      if (outcome.error.code !== "hand-lost") throw outcome.error;
      signal.throwIfAborted();
    }
  }

  async #lead(key: string, work: () => Promise<void>): Promise<void> {
    const outcome = work().then(
      (): Outcome => ({ error: undefined }),
      (thrown: unknown): Outcome => ({ error: toLeveeError(thrown, "Cannot delete") }),
    );
    this.#running.set(key, outcome);
    const { error } = await outcome;
    this.#running.delete(key);
    if (error !== undefined) throw error;
  }
}

interface Outcome {
  readonly error: LeveeError | undefined;
}

function gone(signal: AbortSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve({ error: toLeveeError(signal.reason, "Cannot wait for the DEL") });
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
}
