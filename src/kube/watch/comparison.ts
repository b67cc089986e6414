import type { Clock } from "../../base/clock.ts";
import type { Named, ObjectStore } from "./object-store.ts";
import type { HealthFacts } from "./reflector-health.ts";

/** How often to compare, give or take half, so that the lists of a thousand nodes spread over the whole hour. */
const compareMs = 3_600_000;
/** An event that was on its way during the list arrives within this time. Otherwise it was missed. */
const eventDelayMs = 5000;

/** A list of one resource, and where a watch goes on from it. */
export interface Listed<T> {
  readonly listed: ReadonlyMap<string, T>;
  readonly position: string;
}

interface ComparisonNeeds<T extends Named> {
  readonly clock: Clock;
  readonly store: ObjectStore<T>;
  readonly health: Pick<HealthFacts, "listed" | "missed">;
  readonly closing: AbortSignal;
  readonly list: () => Promise<Listed<T>>;
  /** The watch that is open now. */
  readonly watching: () => AbortController | undefined;
  readonly onMissed: (position: string) => void;
  readonly onFailure: (thrown: unknown) => void;
}

/** Compares the copy of a watch with a list now and then, because a watch can lose events silently. */
export class Comparison<T extends Named> {
  readonly #needs: ComparisonNeeds<T>;
  /** The keys of objects with an event while a list is being compared. */
  #touched: Set<string> | undefined;

  constructor(needs: ComparisonNeeds<T>) {
    this.#needs = needs;
  }

  /** The watch has brought an event about this object. */
  heard(key: string): void {
    this.#touched?.add(key);
  }

  async run(): Promise<void> {
    const { clock, closing, watching, onFailure } = this.#needs;
    while (!closing.aborted) {
      await this.#sleep(compareMs * (0.5 + clock.random()));
      const watch = watching();
      if (watch === undefined || closing.aborted) continue;
      await this.#compare(watch).catch((thrown: unknown) => {
        if (!closing.aborted) onFailure(thrown);
      });
    }
  }

  /** A difference without an event, before or shortly after the list, is a missed event. */
  async #compare(watch: AbortController): Promise<void> {
    const { store, health, closing, list, watching } = this.#needs;
    const touched = new Set<string>();
    this.#touched = touched;
    try {
      const { listed, position } = await list();
      const missed = store.differences(listed);
      if (missed.size > 0) await this.#sleep(eventDelayMs);
      for (const key of touched) missed.delete(key);
      // The watch has ended meanwhile. The next one brings the events it did not send, so nothing is proven.
      if (watching() !== watch || closing.aborted) return;
      health.listed();
      if (missed.size > 0) this.#correct(missed, listed, position);
    } finally {
      this.#touched = undefined;
    }
  }

  #correct(missed: ReadonlySet<string>, listed: ReadonlyMap<string, T>, position: string): void {
    const { store, health, onMissed } = this.#needs;
    health.missed(missed.size);
    for (const key of missed) {
      const object = listed.get(key);
      const [namespace = "", name = ""] = key.split("/");
      if (object === undefined) store.remove(namespace, name);
      else store.put(object);
    }
    onMissed(position);
  }

  /** Resolves early when closed. */
  async #sleep(ms: number): Promise<void> {
    await this.#needs.clock.sleep(ms, this.#needs.closing).catch(() => undefined);
  }
}
