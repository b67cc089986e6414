import { LeveeError } from "../base/errors.ts";
import type { Hand } from "../hands/hand.ts";
import { deleteUnknown } from "./delete-unknown.ts";
import { netnsToPass, type NetnsNow } from "./dismantle.ts";
import type { OfflineDelete } from "./offline-folder.ts";
import type { NodePorts } from "./node-ports.ts";
import { deleteRecord, undoRecord } from "./retire.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";

export interface RecoverOptions {
  readonly ports: NodePorts;
  readonly signal: AbortSignal;
  /** The journal was damaged, so an attachment that seems unfinished may belong to a running pod. */
  readonly isDoubtful?: boolean;
}

const holder = { verb: "UNDO", cancel: (): void => undefined };

/** Undoes, or deletes, what a lost shim left of one record. Resolves to whether nothing is left to do. */
export async function recoverRecord(hand: Hand, token: string, options: RecoverOptions): Promise<boolean> {
  const { ports, signal } = options;
  const seen = ports.journal.findByToken(token);
  if (seen === undefined) return true;
  if (ports.turns.isBusy(seen.containerId)) return false;
  using _turn = await ports.turns.take(seen.containerId, holder, signal);
  const before = ports.journal.findByToken(token);
  if (before === undefined || isSettled(before)) return true;
  await ports.suspects.proveGone(hand, before);
  // A shim that has printed its result leaves a note before it exits; now that it is gone, the note is there or never will be.
  await ports.offline.readAcknowledgements();
  const record = ports.journal.findByToken(token);
  if (record === undefined || isSettled(record)) return true;
  const now = await netnsNow(hand, record, ports);
  if (options.isDoubtful === true && isUnfinished(record) && netnsToPass(record, now, ports.bootId) !== "") {
    ports.logger.warn(
      "An attachment seems unfinished, but the journal was damaged and its namespace lives: it is left to the runtime's DEL",
      {
        container: record.containerId,
      },
    );
    return true;
  }
  if (record.phase === "acknowledged") await deleteRecord(hand, record, now, ports);
  else await undoRecord(hand, record, now, ports);
  return true;
}

/** Carries out a DEL that the runtime made while the daemon was away. */
export async function recoverOfflineDelete(
  hand: Hand,
  request: OfflineDelete,
  options: RecoverOptions,
): Promise<boolean> {
  const { ports, signal } = options;
  if (ports.turns.isBusy(request.containerId)) return false;
  using _turn = await ports.turns.take(request.containerId, holder, signal);
  if (!(await ports.offline.has(request.name))) return true;
  const record = ports.journal.find({ containerId: request.containerId, ifname: request.ifname });
  if (record === undefined) {
    const [identity] = request.netns === "" ? [undefined] : await hand.stat([request.netns]);
    const now = { path: hand.isResident ? request.netns : "", identity };
    await deleteUnknown(hand, { ...request, now, config: () => Promise.resolve(request.config) }, ports);
  } else {
    await ports.suspects.proveGone(hand, record);
    await deleteRecord(hand, record, await netnsNow(hand, record, ports), ports);
  }
  await ports.offline.drop(request.name);
  return true;
}

/** Where the record's namespace is now. A call's own shim may only enter its own, so another living one must wait. */
async function netnsNow(hand: Hand, record: AttachmentRecord, ports: NodePorts): Promise<NetnsNow> {
  const { path } = record.netns;
  const [identity] = path === "" ? [undefined] : await hand.stat([path]);
  const now = { path, identity };
  if (!hand.isResident && netnsToPass(record, now, ports.bootId) !== "") {
    throw new LeveeError(
      "try-later",
      `Cannot undo in ${path} without the resident hand, as that network namespace is still alive`,
    );
  }
  return now;
}

function isUnfinished(record: AttachmentRecord): boolean {
  return record.phase === "intent" || record.phase === "committed";
}

function isSettled(record: AttachmentRecord): boolean {
  return record.phase === "acknowledged" && record.delAttempts === 0;
}
