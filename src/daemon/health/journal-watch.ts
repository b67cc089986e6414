import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { JournalFacts } from "../../readiness/state-rules.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Service } from "../service.ts";

/** Three system calls, so that a removed folder or a read-only disk shows within a second. */
const glanceMs = 1_000;
/** A trial writes and removes a small file, so a full disk is found within half a minute. */
const probeMs = 30_000;
/** A trial on a full disk may write the whole journal before it fails. */
const probeAgainMs = 5_000;

type WatchedJournal = Pick<Journal, "stats" | "glance" | "probeWritable">;

/**
 * Looks regularly whether the journal can be written, so that probes are answered from memory. A write that the disk
 * refuses counts at once; only a trial that works ends the trouble.
 */
export class JournalWatch implements Service {
  readonly #clock: Clock;
  readonly #journal: WatchedJournal;
  readonly #onChange: () => void;
  #unwritable: string | undefined;
  /** The refused writes that the last trial has judged. */
  #judged = 0;
  #beganMs: number | undefined;
  #nextProbeMs = 0;
  #running: Promise<void> = Promise.resolve();
  #stop: Cancel;

  /** `onChange` is called when trouble begins and when it ends. */
  constructor(clock: Clock, journal: WatchedJournal, onChange: () => void = () => undefined) {
    this.#clock = clock;
    this.#journal = journal;
    this.#onChange = onChange;
    this.#stop = clock.every(glanceMs, () => this.#look());
    this.#begin();
  }

  facts(): JournalFacts {
    const { attachments, leaks, quarantined, unwritten, refusals } = this.#journal.stats();
    return {
      unwritable: refusals.count > this.#judged ? refusals.reason : this.#unwritable,
      stuckMs: this.#beganMs === undefined ? 0 : this.#clock.monotonicMs() - this.#beganMs,
      unwritten,
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

  #look(): void {
    const { count, reason } = this.#journal.stats().refusals;
    const trouble = this.#glance() ?? (count > this.#judged ? reason : undefined);
    if (trouble !== undefined) this.#judge(trouble);
    if (trouble !== undefined || this.#clock.monotonicMs() >= this.#nextProbeMs) this.#begin();
  }

  #glance(): string | undefined {
    try {
      this.#journal.glance();
      return undefined;
    } catch (thrown) {
      return toLeveeError(thrown, "Cannot write the journal").message;
    }
  }

  #begin(): void {
    // A second trial beside a stuck one would find out nothing new.
    if (this.#beganMs === undefined) this.#running = this.#probe();
  }

  async #probe(): Promise<void> {
    this.#beganMs = this.#clock.monotonicMs();
    const { count } = this.#journal.stats().refusals;
    let trouble: string | undefined;
    try {
      await this.#journal.probeWritable();
    } catch (thrown) {
      trouble = toLeveeError(thrown, "Cannot write the journal").message;
    }
    this.#beganMs = undefined;
    this.#judged = count;
    this.#nextProbeMs = this.#clock.monotonicMs() + (trouble === undefined ? probeMs : probeAgainMs);
    this.#judge(trouble);
  }

  #judge(trouble: string | undefined): void {
    const isChange = (trouble === undefined) !== (this.#unwritable === undefined);
    this.#unwritable = trouble;
    if (isChange) this.#onChange();
  }
}
