import type { ContainerId, IfName, JsonText, Namespace, PodName } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetnsIdentity } from "../../base/identity.ts";
import {
  keyText,
  refuseBegin,
  type AttachmentKey,
  type AttachmentRecord,
  type RecordedFailure,
  type StepRecord,
} from "./attachment-record.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { openJournal, type JournalOptions, type OpenedJournal } from "./journal-open.ts";
import { glanceAtJournal, probeJournal } from "./journal-probe.ts";
import { journalStats, type JournalStats } from "./journal-stats.ts";
import { nextRetry, type LeakEntry } from "./leak-ledger.ts";
import type { PlugEnd, PlugRecord } from "./plug-record.ts";
import type { ImportReport } from "../multus/multus-cache.ts";
import { takeOverMultus } from "../multus/multus-takeover.ts";
import type { Quarantined } from "../files/quarantine.ts";

export type { JournalOptions } from "./journal-open.ts";

/**
 * The attachments of this node: on disk before any plugin runs, and in memory for all reads.
 * Files in the state folder: `journal.log`, `containers.idx`, `reserve`, `quarantine/`.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #parts: OpenedJournal;
  /** Calls whose intent is being written. */
  readonly #beginning = new Set<string>();
  #importReport: ImportReport | undefined;

  private constructor(options: JournalOptions, parts: OpenedJournal) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * The caller must hold the state folder (`holdStateFolder`), because two writers would destroy each other's lines.
   */
  static async open(options: JournalOptions): Promise<Journal> {
    const journal = new Journal(options, await openJournal(options));
    const { multusDir, clock, logger } = options;
    if (multusDir !== undefined && journal.#importPending()) {
      journal.#importReport = await takeOverMultus(journal, { multusDir, clock, logger });
    }
    return journal;
  }

  // Reads, all from memory

  find(key: AttachmentKey): AttachmentRecord | undefined {
    return this.#parts.state.byKey(key);
  }

  findByToken(token: string): AttachmentRecord | undefined {
    return this.#parts.state.byToken(token);
  }

  /** In the order of their ADDs, which survives rewrites. The wall clock may be set back between two of them. */
  all(): readonly AttachmentRecord[] {
    return [...this.#parts.state.records()];
  }

  forPod(namespace: Namespace, name: PodName): readonly AttachmentRecord[] {
    return this.#parts.state.forPod(namespace, name);
  }

  /** Records with this namespace identity, in the order of their ADDs. The kernel reuses the numbers of dead namespaces. */
  inNetns(identity: NetnsIdentity): readonly AttachmentRecord[] {
    return this.#parts.state.inNetns(identity);
  }

  leaks(): readonly LeakEntry[] {
    return this.#parts.state.leaks.all();
  }

  findLeak(key: AttachmentKey): LeakEntry | undefined {
    return this.#parts.state.leaks.find(key);
  }

  /** Every damage that was put aside, for people. */
  quarantined(): readonly Quarantined[] {
    return this.#parts.quarantined;
  }

  /** The damage that may still concern a container of this node. */
  losses(): readonly Quarantined[] {
    return this.#parts.losses.current();
  }

  /** The import of Multus' cache, if this start did one. */
  get importReport(): ImportReport | undefined {
    return this.#importReport;
  }

  /** Whether a DEL of this container has a record ("live"), was lately removed or refused, or its record is lost. */
  knows(containerId: ContainerId): Knowledge {
    const { state, index } = this.#parts;
    if (state.has(containerId)) return "live";
    if (state.isSettled(containerId)) return "settled";
    if (index.has(containerId) || this.#importPending()) return "lost";
    return this.losses().some(({ source }) => source !== "offline") ? "lost" : "never-added";
  }

  /** Its ADD failed. Without a record nothing was done for it, so its DEL is quick. This need not be durable. */
  addFailed(containerId: ContainerId): void {
    if (this.knows(containerId) === "never-added") this.#parts.state.settle(containerId);
  }

  stats(): JournalStats {
    return journalStats(this.#parts);
  }

  // Writes, in the order of an attachment's life

  /** Resolves when the whole plan is synced. No plugin may run before that. */
  async begin(record: AttachmentRecord): Promise<void> {
    const key = keyText(record);
    const isTaken = this.find(record) !== undefined || this.#beginning.has(key);
    refuseBegin(record, { isTaken, isTokenInUse: this.findByToken(record.token) !== undefined });
    this.#beginning.add(key);
    try {
      await this.#parts.writer.submit({ kind: "begin", record });
    } finally {
      this.#beginning.delete(key);
    }
  }

  /** Resolves when written, not synced: after a power cut a lost step is undone as if it had happened. */
  async step(token: string, step: StepRecord): Promise<void> {
    await this.#submitFor(token, { kind: "step", token, step });
  }

  /** Resolves when written. The record keeps the first failure. */
  async undoing(token: string, failure: RecordedFailure): Promise<void> {
    if (this.findByToken(token)?.phase === "undoing") return;
    await this.#submitFor(token, { kind: "undoing", token, failure });
  }

  /** Resolves when written, not synced: it counts after a crash of the daemon, and after a power cut nothing is attached. */
  async commit(token: string, results: readonly (JsonText | undefined)[]): Promise<void> {
    await this.#submitFor(token, { kind: "commit", token, results });
  }

  /** Resolves when written. The runtime has the result. */
  async acknowledge(token: string): Promise<void> {
    if (this.findByToken(token)?.phase === "acknowledged") return;
    await this.#submitFor(token, { kind: "acknowledge", token });
  }

  /** Resolves when the change of a running pod's networks is synced, before any plugin runs; then its steps and end. */
  async plug(token: string, plug: PlugRecord): Promise<void> {
    await this.#submitFor(token, { kind: "plug", token, plug });
  }

  async plugStep(token: string, step: StepRecord, again?: IfName): Promise<void> {
    await this.#submitFor(token, { kind: "plug-step", token, step, ...(again === undefined ? {} : { again }) });
  }

  async plugEnded(token: string, end: PlugEnd): Promise<void> {
    await this.#submitFor(token, { kind: "plug-ended", token, end });
  }

  /** Resolves when written. */
  async delFailed(token: string, reason: string): Promise<void> {
    await this.#submitFor(token, { kind: "del-failed", token, reason });
  }

  /** Resolves when written. Removing an unknown record is no error, because several DELs may share one run. */
  async removed(token: string): Promise<void> {
    const record = this.findByToken(token);
    if (record === undefined) return;
    await this.#parts.writer.submit({ kind: "removed", token, containerId: record.containerId });
  }

  /**
   * Nothing is left to do for a container whose record was lost, so its next DEL is quick. This need not be durable.
   */
  async forget(containerId: ContainerId): Promise<void> {
    const { state, writer, index } = this.#parts;
    state.settle(containerId);
    await writer
      .exclusive(() => index.drop([containerId]))
      .catch((cause: unknown) => {
        this.#options.logger.warn("Cannot tidy the index of containers", { error: String(cause) });
      });
  }

  /** Adds containers that belong to Levee but have no record. Their DEL rebuilds the record. */
  async suspect(ids: readonly ContainerId[]): Promise<void> {
    const { state, writer, index } = this.#parts;
    await writer.exclusive(() => index.add(ids.filter((id) => !state.has(id))));
  }

  /** Resolves when synced. A lost attachment gets only one entry, however often its DEL comes. */
  async leak(leak: LeakEntry): Promise<void> {
    if (leak.chains.length === 0 && this.findLeak(leak)?.chains.length === 0) return;
    await this.#parts.writer.submit({ kind: "leak", leak });
  }

  /** Counts a failed try and sets the time of the next one. */
  async leakRetried(id: string, reason: string, hasTimedOut: boolean): Promise<void> {
    const leak = this.#parts.state.leaks.get(id);
    if (leak === undefined) return;
    const retry = nextRetry(leak, { reason, hasTimedOut }, this.#options.clock);
    await this.#parts.writer.submit({ kind: "leak-retried", id, retry });
  }

  async leakResolved(id: string): Promise<void> {
    if (this.#parts.state.leaks.get(id) !== undefined) await this.#parts.writer.submit({ kind: "leak-resolved", id });
  }

  /** Multus' cache is imported. A second import would bring removed records back. */
  async markImported(): Promise<void> {
    if (this.#parts.state.genesis?.importDone !== true) await this.#parts.writer.submit({ kind: "imported" });
  }

  /** Rejects with `state-unwritable` when the journal would refuse the next ADD. It costs one small file. */
  probeWritable(): Promise<void> {
    return probeJournal(this.#options.stateDir, this.#parts);
  }

  /** Throws when the journal is gone or its disk takes no writes, as far as three system calls can tell. */
  glance(): void {
    glanceAtJournal(this.#options.stateDir, this.#parts);
  }

  async close(): Promise<void> {
    await this.#parts.writer.close();
  }

  async #submitFor(token: string, entry: JournalEntry): Promise<void> {
    if (this.findByToken(token) === undefined) {
      throw new LeveeError(
        "internal",
        `Cannot write ${entry.kind} of an attachment that is not in the journal: its token is ${token}`,
      );
    }
    await this.#parts.writer.submit(entry);
  }

  #importPending(): boolean {
    return this.#options.multusDir !== undefined && this.#parts.state.genesis?.importDone !== true;
  }
}

type Knowledge = "live" | "settled" | "never-added" | "lost";
