import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../base/atomic-file.ts";
import type { ContainerId, JsonText, Namespace, PodName } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import { keyText, type AttachmentKey, type AttachmentRecord, type RecordedFailure, type StepRecord } from "./attachment-record.ts";
import type { Genesis, JournalEntry } from "./journal-entry.ts";
import { openJournal, type JournalOptions, type OpenedJournal } from "./journal-open.ts";
import { leakBackoffMs, type LeakEntry } from "./leak-ledger.ts";
import { unwritable } from "./log-file.ts";
import { importMultusCache, type ImportReport } from "./multus-cache.ts";
import type { Quarantined } from "./quarantine.ts";

export type { JournalOptions } from "./journal-open.ts";

/**
 * What this node has attached, on disk before it is done and in memory for every question.
 * Files in the state folder: `journal.log`, `containers.idx`, `reserve`, `quarantine/`.
 */
export class Journal {
  readonly #options: JournalOptions;
  readonly #parts: OpenedJournal;
  /** Calls whose intent is on its way to the disk. */
  readonly #beginning = new Set<string>();
  #importReport: ImportReport | undefined;

  private constructor(options: JournalOptions, parts: OpenedJournal) {
    this.#options = options;
    this.#parts = parts;
  }

  /** The caller holds the state folder (`holdStateFolder`): two writers would destroy each other's lines. */
  static async open(options: JournalOptions): Promise<Journal> {
    const journal = new Journal(options, await openJournal(options));
    await journal.#importOnce();
    return journal;
  }

  // Reads, all from memory

  find(key: AttachmentKey): AttachmentRecord | undefined {
    return this.#parts.state.byKey(key);
  }

  findByToken(token: string): AttachmentRecord | undefined {
    return this.#parts.state.byToken(token);
  }

  all(): readonly AttachmentRecord[] {
    return [...this.#parts.state.records()];
  }

  forPod(namespace: Namespace, name: PodName): readonly AttachmentRecord[] {
    return this.#parts.state.forPod(namespace, name);
  }

  leaks(): readonly LeakEntry[] {
    return this.#parts.state.leaks.all();
  }

  findLeak(key: AttachmentKey): LeakEntry | undefined {
    return this.#parts.state.leaks.find(key);
  }

  quarantined(): readonly Quarantined[] {
    return this.#parts.quarantined;
  }

  /** What importing Multus' cache gave, if this start did it. */
  get importReport(): ImportReport | undefined {
    return this.#importReport;
  }

  /** Whether a DEL of this container has something to undo, certainly nothing, or we cannot know any more. */
  knows(containerId: ContainerId): Knowledge {
    const { state, index, quarantined } = this.#parts;
    if (state.has(containerId)) return "live";
    if (state.isSettled(containerId)) return "never-added";
    if (index.has(containerId) || this.#importPending()) return "lost";
    return quarantined.some(({ source }) => source !== "offline") ? "lost" : "never-added";
  }

  stats(): JournalStats {
    const { state, log, reserve, writer, quarantined } = this.#parts;
    return {
      genesis: state.genesis,
      attachments: state.size,
      leaks: state.leaks.all().length,
      leaksDropped: state.leaks.dropped,
      quarantined: quarantined.length,
      orphans: state.orphans,
      logBytes: log.size,
      liveBytes: state.liveBytes,
      reserveHeld: reserve.held,
      ...writer.counts,
    };
  }

  // Writes, in the order of an attachment's life

  /** Resolves when the whole plan is synced. Nothing may be done to the system before that. */
  async begin(record: AttachmentRecord): Promise<void> {
    const key = keyText(record);
    if (this.find(record) !== undefined || this.#beginning.has(key)) {
      throw new LeveeError("interface-taken", `Cannot begin an attachment of ${record.ifname} as there is one: the container is ${record.containerId}`);
    }
    if (this.findByToken(record.token) !== undefined) {
      throw new LeveeError("internal", `Cannot begin an attachment under a token that is in use: it is ${record.token}`);
    }
    this.#beginning.add(key);
    try {
      await this.#parts.writer.submit({ kind: "begin", record });
    } finally {
      this.#beginning.delete(key);
    }
  }

  /** Resolves when written, not synced: a step lost to a power cut is undone as if it had happened. */
  async step(token: string, step: StepRecord): Promise<void> {
    await this.#submitFor(token, { kind: "step", token, step });
  }

  /** Resolves when written. The first failure is the one that is kept. */
  async undoing(token: string, failure: RecordedFailure): Promise<void> {
    if (this.findByToken(token)?.phase === "undoing") return;
    await this.#submitFor(token, { kind: "undoing", token, failure });
  }

  /** Resolves when synced. */
  async commit(token: string, results: readonly (JsonText | undefined)[]): Promise<void> {
    await this.#submitFor(token, { kind: "commit", token, results });
  }

  /** Resolves when written: the runtime has the result. */
  async acknowledge(token: string): Promise<void> {
    if (this.findByToken(token)?.phase === "acknowledged") return;
    await this.#submitFor(token, { kind: "acknowledge", token });
  }

  /** Resolves when written. */
  async delFailed(token: string, reason: string): Promise<void> {
    await this.#submitFor(token, { kind: "del-failed", token, reason });
  }

  /** Resolves when written. Removing what is not there is no error: five deletes may end here. */
  async removed(token: string): Promise<void> {
    const record = this.findByToken(token);
    if (record === undefined) return;
    await this.#parts.writer.submit({ kind: "removed", token, containerId: record.containerId });
  }

  /** Nothing is left to do for a container whose record was lost: the next DEL of it is quick. Kept in memory and index only. */
  async forget(containerId: ContainerId): Promise<void> {
    this.#parts.state.settle(containerId);
    await this.#parts.writer.exclusive(() => this.#parts.index.drop([containerId])).catch((cause: unknown) => {
      this.#options.logger.warn("The index of containers could not be tidied", { error: String(cause) });
    });
  }

  /** Resolves when synced. */
  async leak(leak: LeakEntry): Promise<void> {
    await this.#parts.writer.submit({ kind: "leak", leak });
  }

  /** Counts a failed trial and sets the time of the next one. */
  async leakRetried(id: string, reason: string): Promise<void> {
    const leak = this.#parts.state.leaks.get(id);
    if (leak === undefined) return;
    const { clock } = this.#options;
    const attempts = leak.attempts + 1;
    const retry = { reason, attempts, nextTryWallMs: clock.wallMs() + leakBackoffMs(attempts, clock.random()) };
    await this.#parts.writer.submit({ kind: "leak-retried", id, retry });
  }

  async leakResolved(id: string): Promise<void> {
    if (this.#parts.state.leaks.get(id) !== undefined) await this.#parts.writer.submit({ kind: "leak-resolved", id });
  }

  /** Multus' cache has been taken over: not again, or records that were removed since would come back. */
  async markImported(): Promise<void> {
    if (this.#parts.state.genesis?.importDone !== true) await this.#parts.writer.submit({ kind: "imported" });
  }

  /** Rejects with `state-unwritable` when the next ADD would be refused. For readiness: costs one small file. */
  async probeWritable(): Promise<void> {
    const { writer, log, reserve } = this.#parts;
    const probe = join(this.#options.stateDir, "probe");
    try {
      await writer.exclusive(async () => {
        await reserve.take();
        await log.checkPlace();
        if (log.unsound) await writer.rewrite();
        await writeFileAtomically(probe, Buffer.alloc(probeBytes, 1), { mode: 0o600, sync: false });
        await unlink(probe);
      });
    } catch (cause) {
      throw unwritable(this.#options.stateDir, cause);
    }
  }

  async close(): Promise<void> {
    await this.#parts.writer.close();
  }

  async #submitFor(token: string, entry: JournalEntry): Promise<void> {
    if (this.findByToken(token) === undefined) {
      throw new LeveeError("internal", `Cannot write ${entry.kind} of an attachment that is not in the journal: its token is ${token}`);
    }
    await this.#parts.writer.submit(entry);
  }

  async #importOnce(): Promise<void> {
    const { multusDir, logger } = this.#options;
    if (multusDir === undefined || !this.#importPending()) return;
    try {
      const report = await importMultusCache(multusDir);
      await this.#takeOver(report);
      this.#importReport = report;
      logger.info("Took over what Multus had attached", { folder: multusDir, attachments: report.records.length, problems: report.problems.length });
    } catch (cause) {
      // Deletes must be served even now. Until it is done every unknown container counts as lost, not as never added.
      logger.error("Multus' cache could not be taken over; the next start tries again", { folder: multusDir, error: String(cause) });
    }
  }

  async #takeOver(report: ImportReport): Promise<void> {
    const fresh = report.records.filter((record) => this.find(record) === undefined);
    await Promise.all(fresh.map((record) => this.begin(record)));
    const unreadable = report.problems.flatMap(({ containerId }) => containerId ?? []);
    await this.#parts.writer.exclusive(() => this.#parts.index.add(unreadable.filter((id) => !this.#parts.state.has(id))));
    await this.markImported();
  }

  #importPending(): boolean {
    return this.#options.multusDir !== undefined && this.#parts.state.genesis?.importDone !== true;
  }
}

/** One block. */
const probeBytes = 4_096;

export type Knowledge = "live" | "never-added" | "lost";

export interface JournalStats {
  readonly genesis: Genesis | undefined;
  readonly attachments: number;
  readonly leaks: number;
  readonly leaksDropped: number;
  readonly quarantined: number;
  readonly orphans: number;
  readonly logBytes: number;
  readonly liveBytes: number;
  readonly reserveHeld: boolean;
  readonly written: number;
  readonly compactions: number;
}
