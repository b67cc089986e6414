import type { Cancel, Clock } from "./clock.ts";

/** How often it is looked whether there is time now. */
const lookMs = 50;
/** What is done at one look: two milliseconds, half of what a daemon with a tenth of a core has until the next. */
const jobsAtOnce = 2;

/** How much and how long work may be put off on a node that is never idle; with more, the oldest is done at once. */
interface Patience {
  readonly keptMsMax: number;
  readonly keptMax: number;
}

/** Nobody relies on these jobs, but people look for their traces. Several for each pod of a full node, some hundred bytes each. */
const great: Patience = { keptMsMax: 30_000, keptMax: 1_000 };

/** Puts off work that nobody waits for while there is work that somebody does wait for. Jobs are done in order. */
export class SpareTime {
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #kept = new Map<string | symbol, Kept>();
  #isBusy = (): boolean => false;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, patience = great) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Who knows whether somebody waits. */
  watch(isBusy: () => boolean): void {
    this.#isBusy = isBusy;
  }

  /** At once when there is time. The job must not throw. With a key it can be dropped, and replaces one of that key. */
  do(job: () => void, key: string | symbol = Symbol("job")): void {
    if (this.#kept.size === 0 && !this.#isBusy()) job();
    else this.later(job, key);
  }

  /** Not at once in any case. */
  later(job: () => void, key: string | symbol = Symbol("job")): void {
    this.#kept.set(key, { job, lateMs: this.#clock.monotonicMs() + this.#patience.keptMsMax });
    if (this.#kept.size > this.#patience.keptMax) this.#doOldest(1);
    this.#cancel ??= this.#clock.after(lookMs, () => this.#look());
  }

  /** It is not wanted any more. */
  drop(key: string): void {
    this.#kept.delete(key);
  }

  /**
   * Does what is left and has a key, now: files that the next one finds (Multus' own). The rest is dropped: events would
   * be made only to be thrown away, as who sends them ends too.
   */
  finish(): void {
    for (const key of this.#kept.keys()) if (typeof key === "symbol") this.#kept.delete(key);
    this.#doOldest(this.#kept.size);
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #look(): void {
    this.#cancel = undefined;
    const [oldest] = this.#kept.values();
    if (oldest === undefined) return;
    if (!this.#isBusy() || this.#clock.monotonicMs() >= oldest.lateMs) this.#doOldest(jobsAtOnce);
    this.#cancel ??= this.#clock.after(lookMs, () => this.#look());
  }

  #doOldest(count: number): void {
    for (const [key, { job }] of [...this.#kept.entries().take(count)]) {
      this.#kept.delete(key);
      job();
    }
  }
}

interface Kept {
  readonly job: () => void;
  readonly lateMs: number;
}
