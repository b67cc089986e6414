import type { Cancel, Clock } from "./clock.ts";

/** How often to look whether there is time. */
const lookMs = 50;
/** Jobs done at one look. They take 2 ms, half of what a daemon with a tenth of a core has until the next look. */
const jobsAtOnce = 2;

/** How many jobs may be put off, and for how long, on a node that is never idle. Beyond that the oldest is done at once. */
interface Patience {
  readonly keptMsMax: number;
  readonly keptMax: number;
}

/** No code relies on these jobs, but people look for their traces. Several for each pod of a full node, some hundred bytes each. */
const usualPatience: Patience = { keptMsMax: 30_000, keptMax: 1_000 };

/** Puts off background work while a call waits. Jobs are done in order. */
export class SpareTime {
  readonly #clock: Clock;
  readonly #patience: Patience;
  readonly #kept = new Map<string | symbol, Kept>();
  #isBusy = (): boolean => false;
  #cancel: Cancel | undefined;

  constructor(clock: Clock, patience = usualPatience) {
    this.#clock = clock;
    this.#patience = patience;
  }

  /** Sets the test that tells whether a call waits. */
  watch(isBusy: () => boolean): void {
    this.#isBusy = isBusy;
  }

  /** Does the job at once when there is time. It must not throw. A job with a key can be dropped, and replaces one of that key. */
  do(job: () => void, key: string | symbol = Symbol("job")): void {
    if (this.#kept.size === 0 && !this.#isBusy()) job();
    else this.later(job, key);
  }

  /** Puts the job off in any case. */
  later(job: () => void, key: string | symbol = Symbol("job")): void {
    this.#kept.set(key, { job, lateMs: this.#clock.monotonicMs() + this.#patience.keptMsMax });
    if (this.#kept.size > this.#patience.keptMax) this.#doOldest(1);
    this.#cancel ??= this.#clock.after(lookMs, () => this.#look());
  }

  drop(key: string): void {
    this.#kept.delete(key);
  }

  /**
   * Does the remaining jobs that have a key: they write Multus' files, which the next daemon finds. Drops the others: they
   * make events, and the sender of events ends as well.
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
