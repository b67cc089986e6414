import type { Cancel, Clock } from "../../base/clock.ts";

/** The resident hand runs eight plugins at a time, and undo needs some of them. */
const atOnceMax = 4;

/** Tokens of pods to look at: each at most once at a time, again when it was put meanwhile. */
export class PlugQueue {
  readonly #clock: Pick<Clock, "after">;
  readonly #serve: (token: string) => Promise<number | undefined>;
  readonly #due = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, Cancel>();
  #isStopped = false;

  /** `serve` never rejects, and resolves to the pause before the same token is due again. */
  constructor(clock: Pick<Clock, "after">, serve: (token: string) => Promise<number | undefined>) {
    this.#clock = clock;
    this.#serve = serve;
  }

  put(token: string): void {
    if (this.#isStopped) return;
    this.#cancelTimer(token);
    this.#due.add(token);
    this.#next();
  }

  drop(token: string): void {
    this.#cancelTimer(token);
    this.#due.delete(token);
  }

  /** Takes no more work, and resolves when the running one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const token of this.#timers.keys()) this.#cancelTimer(token);
    this.#due.clear();
    await Promise.all(this.#running.values());
  }

  #next(): void {
    for (const token of this.#due) {
      if (this.#running.size >= atOnceMax) return;
      if (this.#running.has(token)) continue;
      this.#due.delete(token);
      this.#running.set(token, this.#run(token));
    }
  }

  async #run(token: string): Promise<void> {
    const pauseMs = await this.#serve(token);
    this.#running.delete(token);
    if (pauseMs !== undefined && !this.#isStopped && !this.#due.has(token))
      this.#timers.set(
        token,
        this.#clock.after(pauseMs, () => this.put(token)),
      );
    this.#next();
  }

  #cancelTimer(token: string): void {
    this.#timers.get(token)?.();
    this.#timers.delete(token);
  }
}
