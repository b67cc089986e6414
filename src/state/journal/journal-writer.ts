import type { LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { encodeLine } from "../files/checked-line.ts";
import { Compaction } from "./compaction.ts";
import type { ContainerIndex } from "./container-index.ts";
import { DiskDebt } from "./disk-debt.ts";
import { durability } from "./durability.ts";
import { entryToJson, type JournalEntry } from "./journal-entry.ts";
import { rewriteJournal } from "./journal-rewrite.ts";
import type { JournalState } from "./journal-state.ts";
import { containerOf, linesOf, takeBatch, type PendingEntry } from "./pending-entry.ts";
import { isFull, MovedAway, unwritable, type LogFile } from "../files/log-file.ts";
import type { Reserve } from "../files/reserve.ts";

interface WriterParts {
  readonly log: LogFile;
  readonly index: ContainerIndex;
  readonly reserve: Reserve;
  readonly state: JournalState;
  readonly logger: Logger;
  readonly onWritten: (count: number) => void;
}

/**
 * Group commit: entries that arrive during a write go out together in the next one, with at most one sync. Memory
 * changes only after the disk; but an entry that ends something counts even when the disk refuses it, since no later
 * try would find anything left to end.
 */
export class JournalWriter {
  readonly #parts: WriterParts;
  readonly #debt = new DiskDebt();
  readonly #queue: PendingEntry[] = [];
  #lane: Promise<unknown> = Promise.resolve();
  #scheduled = false;
  #closed = false;
  #written = 0;
  readonly #compaction: Compaction;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#compaction = new Compaction(parts);
  }

  get counts() {
    const { count: unwritten, refusals } = this.#debt;
    return { written: this.#written, unwritten, compactions: this.#compaction.count, refusals };
  }

  /** Resolves when the entry is as durable as its kind requires, and memory shows it. */
  submit(entry: JournalEntry): Promise<void> {
    if (this.#closed) return Promise.reject(unwritable(this.#parts.log.path, new Error("the journal is closed")));
    const line = encodeLine("L", entryToJson(entry));
    const { sync, urgent } = durability[entry.kind];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#queue.push({ entry, line, bytes: Buffer.byteLength(line), sync, urgent, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Runs `job` while nothing is being written. */
  exclusive<Result>(job: () => Promise<Result>): Promise<Result> {
    const done = this.#lane.then(job);
    this.#lane = done.catch(() => undefined);
    return done;
  }

  async close(): Promise<void> {
    this.#closed = true;
    while (this.#scheduled) await this.#lane;
    await this.exclusive(async () => {
      // Only then: a folder that was removed for good must not come back at the end.
      if (this.#debt.count > 0) await this.catchUp().catch((cause: unknown) => this.#logLoss(cause));
      await this.#parts.log.close();
      await this.#parts.index.close();
    });
  }

  /** Brings the disk up to what memory says. To be called while nothing is being written. */
  async catchUp(): Promise<void> {
    const { log, reserve, logger } = this.#parts;
    if (log.unsound) {
      await this.rewrite();
      // The reserve may have gone with the folder.
      await reserve.find();
      logger.warn("The journal was written anew from memory", { path: log.path });
    } else if (this.#debt.count > 0) {
      await log.append(Buffer.from(this.#debt.text), true);
      this.#debt.paid();
    }
  }

  async rewrite(): Promise<void> {
    await rewriteJournal(this.#parts);
    this.#debt.paid();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void this.exclusive(() => this.#run());
  }

  async #run(): Promise<void> {
    const batch = takeBatch(this.#queue);
    try {
      await this.#commit(batch);
      await this.#tidy(batch);
    } catch (cause) {
      // A bug in Levee: the callers must not wait forever.
      for (const pending of batch) pending.reject(unwritable(this.#parts.log.path, cause));
    } finally {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#schedule();
    }
  }

  async #commit(batch: readonly PendingEntry[]): Promise<void> {
    let remaining = await this.#makeReady(batch);
    let wasMoved = false;
    while (remaining.length > 0) {
      try {
        await this.#append(remaining);
      } catch (cause) {
        if (cause instanceof MovedAway && !wasMoved) {
          wasMoved = true;
          remaining = await this.#makeReady(remaining);
          continue;
        }
        const kept = isFull(cause) ? await this.#makeRoom(remaining) : [];
        this.#refuse(
          remaining.filter((pending) => !kept.includes(pending)),
          cause,
        );
        remaining = kept;
        continue;
      }
      this.#accept(remaining);
      return;
    }
  }

  async #append(batch: readonly PendingEntry[]): Promise<void> {
    const isOwing = this.#debt.count > 0;
    const bytes = Buffer.from(isOwing ? this.#debt.text + linesOf(batch) : linesOf(batch));
    await this.#parts.log.append(bytes, isOwing || batch.some(({ sync }) => sync));
    if (isOwing) this.#debt.paid();
  }

  /** Prepares journal, reserve and index for a batch, and returns the entries that may be written. */
  async #makeReady(batch: readonly PendingEntry[]): Promise<readonly PendingEntry[]> {
    try {
      if (this.#parts.log.unsound) await this.catchUp();
    } catch (cause) {
      this.#refuse(batch, cause);
      return [];
    }
    const { reserve, index } = this.#parts;
    const begun = batch.filter(({ entry }) => entry.kind === "begin");
    if (begun.length === 0 && reserve.held) return batch;
    const canWait = batch.filter(({ urgent }) => !urgent);
    if (canWait.length === 0) return batch;
    try {
      // Without the reserve an ADD could take the last block that its own undo needs.
      if (!reserve.held) await reserve.take();
      if (begun.length > 0) await index.add(begun.map(containerOf));
      return batch;
    } catch (cause) {
      this.#refuse(canWait, cause);
      return batch.filter(({ urgent }) => urgent);
    }
  }

  /** On a full disk only urgent entries remain, and they get the reserve. */
  async #makeRoom(batch: readonly PendingEntry[]): Promise<readonly PendingEntry[]> {
    const urgent = batch.filter((pending) => pending.urgent);
    if (urgent.length < batch.length) return urgent;
    if (!this.#parts.reserve.held) return [];
    this.#parts.logger.warn("The disk is full; DELs use the reserve, new attachments are refused", {
      path: this.#parts.log.path,
    });
    try {
      await this.#parts.reserve.release();
      return urgent;
    } catch (cause) {
      this.#parts.logger.error("Cannot release the disk reserve", { error: String(cause) });
      return [];
    }
  }

  #accept(batch: readonly PendingEntry[]): void {
    for (const pending of batch) {
      this.#written += 1;
      this.#parts.onWritten(this.#written);
      this.#parts.state.apply(pending.entry, pending.bytes);
      pending.resolve();
    }
  }

  #refuse(batch: readonly PendingEntry[], cause: unknown): void {
    if (batch.length === 0) return;
    const error = this.#trouble(cause);
    for (const pending of batch) {
      if (!pending.urgent) pending.reject(error);
      else this.#owe(pending);
    }
  }

  /** Also right after a crash that comes first: what was to end is in the journal still, and is ended again. */
  #owe({ entry, line, bytes, resolve }: PendingEntry): void {
    if (!this.#debt.add(line, bytes)) this.#parts.log.distrust();
    this.#parts.state.apply(entry, bytes);
    resolve();
  }

  #logLoss(cause: unknown): void {
    const { message } = this.#trouble(cause);
    const fields = { entries: this.#debt.count, reason: message };
    this.#parts.logger.error("The disk lacks entries that end attachments; the next daemon ends them again", fields);
  }

  #trouble(cause: unknown): LeveeError {
    const error = unwritable(this.#parts.log.path, cause);
    this.#debt.refused(error.message);
    return error;
  }

  /** Shrinks the index and the journal after a batch. A failure does no harm. */
  async #tidy(batch: readonly PendingEntry[]): Promise<void> {
    const { state, log, index, logger } = this.#parts;
    const ended = batch.filter(({ entry }) => entry.kind === "begin" || entry.kind === "removed").map(containerOf);
    const gone = ended.filter((id) => !state.has(id));
    try {
      if (gone.length > 0) await index.drop(gone);
      if (this.#compaction.isDue) {
        await this.rewrite();
        this.#compaction.count += 1;
      }
      this.#compaction.worked();
    } catch (cause) {
      this.#compaction.failed();
      // On a disk that refuses everything, each DEL comes here, and the trouble is told already.
      if (this.#debt.count === 0)
        logger.warn("Cannot compact the journal; appending to it as it is", { path: log.path, error: String(cause) });
    }
  }
}
