import { LeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import type { Logger } from "../../base/log.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { Turns } from "../serve/turns.ts";
import type { Delivered } from "./delivered.ts";
import type { OfflineFolder } from "./offline-folder.ts";
import type { OfflineWork, RecordWork, Schedule, Work } from "./queue/recovery-work.ts";
import type { Suspects } from "./suspects.ts";
import type { Undo } from "./undo.ts";
import { netnsAt, netnsToPass, type NetnsNow } from "./netns-to-pass.ts";
import type { UndoUnknown } from "./undo-unknown.ts";

export interface RecoverNeeds {
  readonly bootId: string;
  readonly journal: Pick<Journal, "acknowledge" | "find" | "findByToken" | "inNetns" | "losses">;
  readonly logger: Logger;
  readonly delivered: Delivered;
  readonly turns: Turns;
  readonly suspects: Suspects;
  readonly offline: Pick<OfflineFolder, "has" | "drop" | "readAcknowledgements">;
  readonly undo: Undo;
  readonly unknown: UndoUnknown;
}

/** How long one item may take. */
export interface RecoverLimits {
  readonly signal: AbortSignal;
  /** The hand's time for it. A call's own shim must keep time for its call. */
  readonly limitMs: number;
}

/** After so many looks that failed, plugins run without a sign: a kept DEL must not hold up its pod for ever. */
const looksMax = 10;

const holder = { verb: "UNDO", cancel: (): void => undefined };

/** Carries out one item of recovery. Resolves to whether nothing is left to do. */
export class RecoverItem {
  readonly #needs: RecoverNeeds;

  constructor(needs: RecoverNeeds) {
    this.#needs = needs;
  }

  carryOut(hand: Hand, item: Work, limits: RecoverLimits): Promise<boolean> {
    return item.kind === "offline" ? this.#offlineDelete(hand, item, limits) : this.#record(hand, item, limits);
  }

  /** Undoes or deletes one record of a lost shim. */
  async #record(hand: Hand, work: RecordWork, { signal, limitMs }: RecoverLimits): Promise<boolean> {
    const { journal, turns, suspects, offline, undo } = this.#needs;
    const seen = journal.findByToken(work.token);
    if (seen === undefined) return true;
    if (turns.isBusy(seen.containerId)) return false;
    using _turn = await turns.take(seen.containerId, holder, signal);
    const before = journal.findByToken(work.token);
    if (before === undefined || isSettled(before, work)) return true;
    await suspects.proveGone(hand, before);
    // A shim that has printed its result leaves an acknowledgement before it exits. It is gone, so no later one can come.
    await offline.readAcknowledgements();
    const record = journal.findByToken(work.token);
    if (record === undefined || isSettled(record, work)) return true;
    const now = await netnsNow(hand, record, this.#needs);
    if (await this.#isKept(hand, record, work, now)) return true;
    if (record.phase === "acknowledged") await undo.delete(record, { hand, now, limitMs });
    else await undo.undo(record, { hand, now, limitMs });
    return true;
  }

  /** Carries out a DEL that a shim recorded while the daemon was away. */
  async #offlineDelete(hand: Hand, item: OfflineWork & Schedule, limits: RecoverLimits): Promise<boolean> {
    const { journal, turns, suspects, offline, undo } = this.#needs;
    const { request } = item;
    const { signal, limitMs } = limits;
    if (turns.isBusy(request.containerId)) return false;
    using _turn = await turns.take(request.containerId, holder, signal);
    if (!offline.has(request.name)) return true;
    const record = journal.find({ containerId: request.containerId, ifname: request.ifname });
    if (record === undefined) await this.#deleteUnknown(hand, item, limitMs);
    else {
      await suspects.proveGone(hand, record);
      await undo.delete(record, { hand, now: await netnsNow(hand, record, this.#needs), limitMs });
    }
    await offline.drop(request.name);
    return true;
  }

  async #deleteUnknown(hand: Hand, { request, attempts }: OfflineWork & Schedule, limitMs: number): Promise<void> {
    const { netns, netnsIdentity, config } = request;
    const found = await netnsAt(hand, netns);
    // Another namespace may be at that path by now.
    const identity = sameNetns(netnsIdentity, found) ? found : undefined;
    const now = { path: hand.isResident ? netns : "", identity };
    const kept = { sign: signOfKept(netnsIdentity !== undefined && identity === undefined, attempts) };
    const container = { ...request, now, kept, config: () => Promise.resolve(config) };
    await this.#needs.unknown.delete(hand, container, { leftMs: () => limitMs });
  }

  /**
   * The journal may have lost the line that the runtime has its result. So an attachment that seems unfinished may belong
   * to a running pod while its namespace lives. It stays if the runtime has the result. In doubt it waits for the
   * runtime's DEL, or for the end of the namespace.
   */
  async #isKept(hand: Hand, record: AttachmentRecord, work: RecordWork, now: NetnsNow): Promise<boolean> {
    const { journal, logger, delivered } = this.#needs;
    // Of an ADD that this daemon saw fail, the runtime has nothing.
    const isUnfinished = record.phase === "committed" || (record.phase === "intent" && work.isInherited);
    const isUnwanted = work.isDelete || record.delAttempts > 0;
    const netns = netnsToPass(record, now, this.#needs);
    if (!isUnfinished || isUnwanted || netns === "") return false;
    const isKept = await delivered.find(hand, record, netns);
    if (isKept) {
      await journal.acknowledge(record.token);
      logger.warn("The journal lacks an acknowledgement, but the runtime has the result: the attachment stays", {
        container: record.containerId,
        pod: `${record.pod.namespace}/${record.pod.name}`,
      });
    } else this.#refuseDamaged(record);
    return isKept;
  }

  #refuseDamaged(record: AttachmentRecord): void {
    const { journal } = this.#needs;
    const isDamaged = journal
      .losses()
      .some(({ source, foundWallMs }) => source === "journal" && foundWallMs > record.startedWallMs);
    if (!isDamaged) return;
    throw new LeveeError(
      "try-later",
      "Cannot undo an attachment that seems unfinished: the journal was damaged and its namespace lives; the runtime's DEL removes it",
    );
  }
}

/** The record's namespace as it is now. A call's own shim may enter only its own, so another living one must wait. */
async function netnsNow(hand: Hand, record: AttachmentRecord, needs: RecoverNeeds): Promise<NetnsNow> {
  const { path } = record.netns;
  const now = { path, identity: await netnsAt(hand, path) };
  if (!hand.isResident && netnsToPass(record, now, needs) !== "") {
    throw new LeveeError(
      "try-later",
      `Cannot undo in ${path} without the resident hand, as that network namespace is still alive`,
    );
  }
  return now;
}

/** What speaks for an attachment although the runtime has removed the namespace and its own file since the kept DEL. */
function signOfKept(lostNetns: boolean, attempts: number): string | undefined {
  if (lostNetns) return "it had a network namespace when its DEL was put off, and that is gone";
  return attempts < looksMax ? undefined : `${attempts} looks could not tell whether something of it is left`;
}

function isSettled(record: AttachmentRecord, work: RecordWork): boolean {
  return record.phase === "acknowledged" && record.delAttempts === 0 && !work.isDelete;
}
