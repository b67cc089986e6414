import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { ContainerId, JsonText, Namespace, PodName } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { NetnsIdentity } from "../../base/identity.ts";
import {
  keyText,
  type AttachmentKey,
  type AttachmentRecord,
  type RecordedFailure,
  type StepRecord,
} from "./attachment-record.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { openJournal, type JournalOptions, type OpenedJournal } from "./journal-open.ts";
import { journalStats, type JournalStats } from "./journal-stats.ts";
import { leakBackoffMs, type LeakEntry } from "./leak-ledger.ts";
import { unwritable } from "../files/log-file.ts";
import type { ImportReport } from "../multus/multus-cache.ts";
import { takeOverMultus } from "../multus/multus-takeover.ts";
import type { Quarantined } from "../files/quarantine.ts";

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

  all(): readonly AttachmentRecord[] {
    return [...this.#parts.state.records()];
  }

  forPod(namespace: Namespace, name: PodName): readonly AttachmentRecord[] {
    return this.#parts.state.forPod(namespace, name);
  }

  /** Records of this namespace, as far as the numbers tell. */
  inNetns(identity: NetnsIdentity): readonly AttachmentRecord[] {
    return this.#parts.state.inNetns(identity);
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
    return journalStats(this.#parts);
  }

  // Writes, in the order of an attachment's life

  /** Resolves when the whole plan is synced. Nothing may be done to the system before that. */
  async begin(record: AttachmentRecord): Promise<void> {
    const key = keyText(record);
    if (this.find(record) !== undefined || this.#beginning.has(key)) {
      throw new LeveeError(
        "interface-taken",
        `Cannot begin an attachment of ${record.ifname} as there is one: the container is ${record.containerId}`,
      );
    }
    if (this.findByToken(record.token) !== undefined) {
      throw new LeveeError(
        "internal",
        `Cannot begin an attachment under a token that is in use: it is ${record.token}`,
      );
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

  /** Nothing is left to do for a container whose record was lost: the next DEL of it is quick. Not durable, and need not be. */
  async forget(containerId: ContainerId): Promise<void> {
    const { state, writer, index } = this.#parts;
    state.settle(containerId);
    await writer
      .exclusive(() => index.drop([containerId]))
      .catch((cause: unknown) => {
        this.#options.logger.warn("The index of containers could not be tidied", { error: String(cause) });
      });
  }

  /** Containers that are ours although no record says what they have: their DEL takes the rebuild path. */
  async suspect(ids: readonly ContainerId[]): Promise<void> {
    const { state, writer, index } = this.#parts;
    await writer.exclusive(() => index.add(ids.filter((id) => !state.has(id))));
  }

  /** Resolves when synced. One notice per lost attachment is enough, however often its DEL comes. */
  async leak(leak: LeakEntry): Promise<void> {
    if (leak.chains.length === 0 && this.findLeak(leak)?.chains.length === 0) return;
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

/** One block. */
const probeBytes = 4_096;

type Knowledge = "live" | "never-added" | "lost";
