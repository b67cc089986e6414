import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { JournalFacts } from "../../readiness/state-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Service } from "../service.ts";

/** A trial writes and removes a small file, so a full disk is found within half a minute. */
const probeMs = 30_000;

/** Tries regularly whether the journal can be written, so that probes are answered from memory. */
export class JournalWatch implements Service {
  readonly #clock: Clock;
  readonly #journal: Journal;
  #unwritable: string | undefined;
  #beganMs: number | undefined;
  #running: Promise<void> = Promise.resolve();
  #stop: Cancel;

  constructor(clock: Clock, journal: Journal) {
    this.#clock = clock;
    this.#journal = journal;
    this.#stop = clock.every(probeMs, () => this.#begin());
    this.#begin();
  }

  facts(): JournalFacts {
    const { attachments, leaks, quarantined } = this.#journal.stats();
    return {
      unwritable: this.#unwritable,
      stuckMs: this.#beganMs === undefined ? 0 : this.#clock.monotonicMs() - this.#beganMs,
      attachments,
      leaks,
      quarantined,
    };
  }

  /** The trial under way must end before the journal is closed. */
  async stop(): Promise<void> {
    this.#stop();
    await this.#running;
  }

  #begin(): void {
    // A second trial beside a stuck one would find out nothing new.
    if (this.#beganMs === undefined) this.#running = this.#probe();
  }

  async #probe(): Promise<void> {
    this.#beganMs = this.#clock.monotonicMs();
    try {
      await this.#journal.probeWritable();
      this.#unwritable = undefined;
    } catch (thrown) {
      this.#unwritable = toLeveeError(thrown, "Cannot write the journal").message;
    } finally {
      this.#beganMs = undefined;
    }
  }
}
