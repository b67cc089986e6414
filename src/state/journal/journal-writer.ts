import { writeFileAtomically } from "../../base/atomic-file.ts";
import type { ContainerId } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { encodeLine } from "../files/checked-line.ts";
import type { ContainerIndex } from "./container-index.ts";
import { batchBytesMax, durability, type Durability } from "./durability.ts";
import { entryToJson, type Genesis, type JournalEntry } from "./journal-entry.ts";
import type { JournalState } from "./journal-state.ts";
import { isFull, unwritable, type LogFile } from "../files/log-file.ts";
import type { Reserve } from "../files/reserve.ts";

interface WriterParts {
  readonly log: LogFile;
  readonly index: ContainerIndex;
  readonly reserve: Reserve;
  readonly state: JournalState;
  readonly logger: Logger;
  readonly onWritten: (count: number) => void;
}

/** In a smaller journal a rewrite costs more than the dead bytes. */
const compactAboveBytes = 1_048_576;
/** On a full disk every block counts. */
const compactFullAboveBytes = 16_384;

/**
 * Group commit: entries that arrive during a write go out together in the next one, with at most one sync. Memory
 * changes only after the disk.
 */
export class JournalWriter {
  readonly #parts: WriterParts;
  #queue: Pending[] = [];
  #lane: Promise<unknown> = Promise.resolve();
  #scheduled = false;
  #closed = false;
  #written = 0;
  #compactions = 0;
  #compactAgainAboveBytes = 0;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  get counts(): { readonly written: number; readonly compactions: number } {
    return { written: this.#written, compactions: this.#compactions };
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
      await this.#parts.log.close();
      await this.#parts.index.close();
    });
  }

  /** Rewrites the journal from memory. A crash is safe: the old file stays until the new one is complete and synced. */
  async rewrite(): Promise<void> {
    const { state, log, index } = this.#parts;
    const genesis: JournalEntry = { kind: "genesis", genesis: genesisOf(state) };
    const lines = [genesis, ...state.snapshot()].map((entry) => ({ entry, line: encodeLine("L", entryToJson(entry)) }));
    const content = Buffer.from(lines.map(({ line }) => line).join(""));
    // The index first: it may lack a container that the old journal lists as removed, but not the other way round.
    await index.rewrite();
    try {
      await writeFileAtomically(log.path, content, { mode: 0o600, sync: true });
    } catch (cause) {
      // The rename may have happened before the failure. Then the open file is no longer the journal.
      await log.checkPlace();
      throw cause;
    }
    await log.replaced(content.length);
    for (const { entry, line } of lines) state.recount(entry, Buffer.byteLength(line));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    void this.exclusive(() => this.#run());
  }

  async #run(): Promise<void> {
    const batch = this.#takeBatch();
    try {
      await this.#commit(batch);
      await this.#tidy(batch);
    } catch (cause) {
      // A bug in Levee: the callers must not wait forever.
      this.#refuse(batch, cause);
    } finally {
      this.#scheduled = false;
      if (this.#queue.length > 0) this.#schedule();
    }
  }

  #takeBatch(): Pending[] {
    let bytes = 0;
    const tooMany = this.#queue.findIndex((pending) => (bytes += pending.bytes) > batchBytesMax);
    // At least one entry goes, whatever its size.
    return this.#queue.splice(0, tooMany === -1 ? this.#queue.length : Math.max(1, tooMany));
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    let remaining = await this.#makeReady(batch);
    while (remaining.length > 0) {
      try {
        const [only] = remaining;
        const text =
          remaining.length === 1 && only !== undefined ? only.line : remaining.map(({ line }) => line).join("");
        const bytes = Buffer.from(text);
        await this.#parts.log.append(
          bytes,
          remaining.some(({ sync }) => sync),
        );
      } catch (cause) {
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

  /** Prepares journal, reserve and index for a batch, and returns the entries that may be written. */
  async #makeReady(batch: readonly Pending[]): Promise<readonly Pending[]> {
    try {
      if (this.#parts.log.unsound) await this.rewrite();
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
  async #makeRoom(batch: readonly Pending[]): Promise<readonly Pending[]> {
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

  #accept(batch: readonly Pending[]): void {
    for (const pending of batch) {
      this.#written += 1;
      this.#parts.onWritten(this.#written);
      this.#parts.state.apply(pending.entry, pending.bytes);
      pending.resolve();
    }
  }

  #refuse(batch: readonly Pending[], cause: unknown): void {
    for (const pending of batch) pending.reject(unwritable(this.#parts.log.path, cause));
  }

  /** Shrinks the index and the journal after a batch. A failure does no harm. */
  async #tidy(batch: readonly Pending[]): Promise<void> {
    const { state, log, index, logger } = this.#parts;
    const ended = batch.filter(({ entry }) => entry.kind === "begin" || entry.kind === "removed").map(containerOf);
    const gone = ended.filter((id) => !state.has(id));
    try {
      if (gone.length > 0) await index.drop(gone);
      if (this.#isWorthCompacting()) await this.#compact();
      this.#compactAgainAboveBytes = 0;
    } catch (cause) {
      // Wait until the journal has grown by a quarter, because a full disk stays full for a while.
      this.#compactAgainAboveBytes = log.size * 1.25;
      logger.warn("Cannot compact the journal; appending to it as it is", { path: log.path, error: String(cause) });
    }
  }

  async #compact(): Promise<void> {
    await this.rewrite();
    this.#compactions += 1;
  }

  #isWorthCompacting(): boolean {
    const { state, log, reserve } = this.#parts;
    const aboveBytes = Math.max(reserve.held ? compactAboveBytes : compactFullAboveBytes, this.#compactAgainAboveBytes);
    return log.size > aboveBytes && state.liveBytes * 2 < log.size;
  }
}

interface Pending extends Durability {
  readonly entry: JournalEntry;
  readonly line: string;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: LeveeError) => void;
}

function containerOf({ entry }: Pending): ContainerId {
  if (entry.kind === "begin") return entry.record.containerId;
  if (entry.kind === "removed") return entry.containerId;
  throw new LeveeError("internal", `Cannot name the container of a ${entry.kind} entry: it has none`);
}

function genesisOf(state: JournalState): Genesis {
  if (state.genesis === undefined)
    throw new LeveeError("internal", "Cannot rewrite a journal before its genesis is known");
  return state.genesis;
}
