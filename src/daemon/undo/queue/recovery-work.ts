import type { Clock } from "../../../base/clock.ts";
import type { LeveeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/log.ts";
import type { DaemonConfig } from "../../../config/daemon-config.ts";
import { closingMs } from "../../../config/time-budgets.ts";
import type { Journal } from "../../../state/journal/journal.ts";
import type { OfflineDelete } from "../offline-folder.ts";

/** Work that a lost shim, or a time without a daemon, left behind. */
export type Work = (RecordWork | OfflineWork) & Schedule;

export interface RecordWork {
  readonly kind: "record";
  readonly token: string;
  /** The runtime wants it deleted, even if the journal does not say so. */
  readonly isDelete: boolean;
  /** The last daemon left it, so the journal may have lost lines about it. */
  readonly isInherited: boolean;
}

export interface OfflineWork {
  readonly kind: "offline";
  readonly request: OfflineDelete;
}

export interface Schedule {
  pauseMs: number;
  attempts: number;
  /** When the reason of the wait was last logged. */
  loggedMs: number;
}

/** The first pause of blocked work: a killed shim and its turn are gone in moments. Later pauses double. */
const firstPauseMs = 50;
/** Often enough to be found in a log, and too seldom to fill it. */
const logEveryMs = 60_000;
/** Fewer attempts than this are normal and are not logged. */
const quietAttempts = 4;

export function newWork(what: RecordWork | OfflineWork): Work {
  return { ...what, pauseMs: firstPauseMs, attempts: 0, loggedMs: Number.NEGATIVE_INFINITY };
}

/** How long an ADD may wait for deletes: the rest of its budget stays for the look-up, the plugins and their undo. */
export function spareMs(
  leftMs: number,
  { addLookupMs, addDelegatesMs, addUndoMs }: Pick<DaemonConfig, "addLookupMs" | "addDelegatesMs" | "addUndoMs">,
): number {
  const neededMs = addLookupMs + addDelegatesMs + addUndoMs + closingMs;
  return Math.min(addLookupMs, Math.max(0, leftMs - neededMs));
}

/** The log line at the start: a person may be waiting for these deletes. */
export function offlineText(count: number, hasResident: boolean): string {
  const [deletes, verb, them] = count === 1 ? ["delete", "waits", "it"] : ["deletes", "wait", "they"];
  const text = `${count} ${deletes} made while the daemon was away ${verb} to be carried out`;
  return hasResident ? text : `${text}: ${them} ${verb} for a resident hand`;
}

interface PostponedNeeds {
  readonly clock: Clock;
  readonly journal: Pick<Journal, "findByToken">;
  readonly logger: Logger;
}

/** Logs a long-blocked undo again and again, because a person would not look for it otherwise. */
export function logPostponed(work: Work, error: LeveeError, needs: PostponedNeeds): void {
  const nowMs = needs.clock.monotonicMs();
  const isRoutine = error.code === "try-later" && work.attempts < quietAttempts;
  if (isRoutine || nowMs - work.loggedMs < logEveryMs) return;
  work.loggedMs = nowMs;
  const record = work.kind === "record" ? needs.journal.findByToken(work.token) : undefined;
  needs.logger.warn("An undo or a delete is still due and will be tried again", {
    container: work.kind === "offline" ? work.request.containerId : record?.containerId,
    attempts: work.attempts + 1,
    reason: error.message,
  });
}
