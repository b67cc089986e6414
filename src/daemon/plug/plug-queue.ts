import type { Cancel, Clock } from "../../base/clock.ts";

/** The resident hand runs eight plugins at a time, and undo needs some of them. */
const atOnceMax = 4;
/** A namespace whose plugins all hang leaves a place for the others. */
const ofNamespaceMax = atOnceMax - 1;

interface PlugQueueOptions {
  readonly clock: Pick<Clock, "after">;
  readonly namespaceOf: (token: string) => string;
  /** Never rejects, and resolves to the pause before the same token is due again. */
  readonly serve: (token: string) => Promise<number | undefined>;
}

/**
 * Tokens of pods to look at: each at most once at a time, again when it was put meanwhile. A free place goes to the
 * namespace that has the fewest, so that nobody's pods keep those of others waiting.
 */
export class PlugQueue {
  readonly #clock: Pick<Clock, "after">;
  readonly #namespaceOf: (token: string) => string;
  readonly #serve: (token: string) => Promise<number | undefined>;
  readonly #due = new Set<string>();
  readonly #running = new Map<string, { readonly namespace: string; readonly ended: Promise<void> }>();
  readonly #timers = new Map<string, Cancel>();
  #isStopped = false;

  constructor({ clock, namespaceOf, serve }: PlugQueueOptions) {
    this.#clock = clock;
    this.#namespaceOf = namespaceOf;
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
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  #next(): void {
    while (this.#running.size < atOnceMax) {
      const next = this.#fairest();
      if (next === undefined) return;
      this.#due.delete(next.token);
      this.#running.set(next.token, { namespace: next.namespace, ended: this.#run(next.token) });
    }
  }

  /** The oldest token of the namespace with the fewest places. */
  #fairest(): { readonly token: string; readonly namespace: string } | undefined {
    const held = new Map<string, number>();
    for (const { namespace } of this.#running.values()) held.set(namespace, (held.get(namespace) ?? 0) + 1);
    let fairest: { readonly token: string; readonly namespace: string } | undefined;
    let fewest = ofNamespaceMax;
    for (const token of this.#due) {
      if (this.#running.has(token)) continue;
      const namespace = this.#namespaceOf(token);
      const places = held.get(namespace) ?? 0;
      if (places >= fewest) continue;
      [fairest, fewest] = [{ token, namespace }, places];
      if (places === 0) break;
    }
    return fairest;
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
