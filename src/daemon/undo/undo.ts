import type { Clock } from "../../base/clock.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ChainNotes } from "../record/chain-notes.ts";
import { subjectOf } from "../record/subject.ts";
import type { Afterwork } from "../tell/afterwork.ts";
import type { Leaks } from "./leaks.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { Suspects } from "./suspects.ts";
import type { Leftovers } from "./leftovers.ts";
import { wholeRecord } from "./whole-record.ts";
import { joinErrors, undoChains, type ChainFailure, type UndoOrder } from "./undo-chains.ts";

/** Which hand undoes, and where. Without a limit it has all the time that the settings give. */
export type UndoPlace = Pick<UndoOrder, "hand" | "now" | "reports"> & { readonly limitMs?: number };

export interface UndoNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "binDir" | "addUndoMs" | "delDelegatesMs" | "delAttemptsMax">;
  readonly bootId: string;
  readonly suspects: Pick<Suspects, "add">;
  readonly notes: Pick<ChainNotes, "note" | "ran">;
  readonly journal: Pick<Journal, "delFailed" | "inNetns" | "removed">;
  readonly leaks: Pick<Leaks, "settle">;
  readonly leftovers: Pick<Leftovers, "leftBy">;
  readonly afterwork: Pick<Afterwork, "drop">;
  readonly offline: Pick<OfflineFolder, "dropDelete">;
}

/** Takes attachments away again. Every undo comes through here: a failed ADD, a DEL, recovery, garbage collection. */
export class Undo {
  readonly #needs: UndoNeeds;
  /** By token of a DEL that the runtime retries: its chains that ran out of time. A restart may forget them. */
  readonly #timedOut = new Map<string, readonly number[]>();

  constructor(needs: UndoNeeds) {
    this.#needs = needs;
  }

  /**
   * Undoes an ADD that failed or whose shim was lost. The rest goes to the leak ledger, and the record ends here.
   * Resolves to whether nothing is left.
   */
  async undo(recorded: AttachmentRecord, place: UndoPlace): Promise<boolean> {
    const record = wholeRecord(recorded);
    const failures = await this.chains(record, { ...place, verb: "UNDO" });
    await this.#needs.leaks.settle(record, place.now, failures);
    await this.#forget(record);
    this.#needs.notes.note(subjectOf(record, "UNDO"), failures.length > 0 ? "leaked" : "undone");
    return failures.length === 0;
  }

  /**
   * Carries out a DEL. The runtime hears of the first failures and retries; after that the rest goes to the leak ledger
   * and the DEL succeeds: a failing plugin must not pin the sandbox for ever.
   */
  async delete(recorded: AttachmentRecord, place: UndoPlace): Promise<void> {
    const record = wholeRecord(recorded);
    const failures = await this.chains(record, { ...place, verb: "DEL" });
    if (failures.length > 0 && record.delAttempts + 1 < this.#needs.config.delAttemptsMax) {
      this.#timedOut.set(record.token, timedOut(failures));
      const error = joinErrors(failures.map((failure) => failure.error));
      await this.#needs.journal.delFailed(record.token, error.message);
      throw error;
    }
    await this.#needs.leaks.settle(record, place.now, failures);
    await this.#forget(record);
    this.#needs.notes.note(subjectOf(record, "DEL"), failures.length > 0 ? "leaked" : "finished");
  }

  /**
   * Runs the plugins' DEL and writes nothing: for records that are not in the journal. Resolves to the failures that may
   * have left something.
   */
  async chains(record: AttachmentRecord, order: UndoPlace & Pick<UndoOrder, "verb">): Promise<readonly ChainFailure[]> {
    const { addUndoMs, delDelegatesMs } = this.#needs.config;
    const settingMs = order.verb === "UNDO" ? addUndoMs : delDelegatesMs;
    const limitMs = Math.min(settingMs, order.limitMs ?? Number.POSITIVE_INFINITY);
    const last = this.#timedOut.get(record.token);
    const failures = await undoChains(record, { ...order, limitMs, last }, this.#needs);
    return failures.length === 0 ? failures : this.#needs.leftovers.leftBy(record, failures, order);
  }

  /** The journal comes second: a daemon that dies in between finds the record again and does the rest. */
  async #forget(record: AttachmentRecord): Promise<void> {
    const { afterwork, journal, offline } = this.#needs;
    this.#timedOut.delete(record.token);
    await afterwork.drop(record);
    await journal.removed(record.token);
    await offline.dropDelete(record.containerId, record.ifname);
  }
}

function timedOut(failures: readonly ChainFailure[]): readonly number[] {
  return failures.filter(({ hasTimedOut }) => hasTimedOut).map(({ index }) => index);
}
