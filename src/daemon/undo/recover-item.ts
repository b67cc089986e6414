import { LeveeError } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import { deleteUnknown } from "./delete-unknown.ts";
import { netnsToPass, type NetnsNow } from "./undo-chains.ts";
import type { OfflineDelete } from "./offline-folder.ts";
import type { NodePorts } from "../node-ports.ts";
import type { RecordWork } from "./recovery-work.ts";
import { deleteRecord, undoRecord } from "./undo.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

export interface RecoverOptions {
  readonly ports: NodePorts;
  readonly signal: AbortSignal;
  /** What the hand has left for it: a call's own shim must keep time for its own work. */
  readonly limitMs: number;
}

const holder = { verb: "UNDO", cancel: (): void => undefined };

/** Undoes, or deletes, what a lost shim left of one record. Resolves to whether nothing is left to do. */
export async function recoverRecord(hand: Hand, work: RecordWork, options: RecoverOptions): Promise<boolean> {
  const { ports, signal, limitMs } = options;
  const seen = ports.journal.findByToken(work.token);
  if (seen === undefined) return true;
  if (ports.turns.isBusy(seen.containerId)) return false;
  using _turn = await ports.turns.take(seen.containerId, holder, signal);
  const before = ports.journal.findByToken(work.token);
  if (before === undefined || isSettled(before, work)) return true;
  await ports.suspects.proveGone(hand, before);
  // A shim that has printed its result leaves a note before it exits; now that it is gone, the note is there or never will be.
  await ports.offline.readAcknowledgements();
  const record = ports.journal.findByToken(work.token);
  if (record === undefined || isSettled(record, work)) return true;
  const now = await netnsNow(hand, record, ports);
  refuseDoubtful(record, now, ports);
  const place = { hand, now, limitMs };
  if (record.phase === "acknowledged") await deleteRecord(record, place, ports);
  else await undoRecord(record, place, ports);
  return true;
}

/** Carries out a DEL that the runtime made while the daemon was away. */
export async function recoverOfflineDelete(
  hand: Hand,
  request: OfflineDelete,
  options: RecoverOptions,
): Promise<boolean> {
  const { ports, signal, limitMs } = options;
  if (ports.turns.isBusy(request.containerId)) return false;
  using _turn = await ports.turns.take(request.containerId, holder, signal);
  if (!ports.offline.has(request.name)) return true;
  const record = ports.journal.find({ containerId: request.containerId, ifname: request.ifname });
  if (record === undefined) {
    const [identity] = request.netns === "" ? [undefined] : await hand.stat([request.netns]);
    const now = { path: hand.isResident ? request.netns : "", identity };
    await deleteUnknown(hand, { ...request, now, config: () => Promise.resolve(request.config) }, ports);
  } else {
    await ports.suspects.proveGone(hand, record);
    await deleteRecord(record, { hand, now: await netnsNow(hand, record, ports), limitMs }, ports);
  }
  await ports.offline.drop(request.name);
  return true;
}

/**
 * When the journal was damaged, the line that says that the runtime has its result may be among those that were lost:
 * an attachment that seems unfinished and whose namespace lives may belong to a running pod. It waits for the
 * runtime's DEL, or for the end of the namespace.
 */
function refuseDoubtful(record: AttachmentRecord, now: NetnsNow, ports: NodePorts): void {
  const isUnfinished = record.phase === "intent" || record.phase === "committed";
  const isDamaged = ports.journal
    .quarantined()
    .some(({ source, foundWallMs }) => source === "journal" && foundWallMs > record.startedWallMs);
  if (!isUnfinished || !isDamaged || netnsToPass(record, now, ports.bootId) === "") return;
  throw new LeveeError(
    "try-later",
    "An attachment seems unfinished, but the journal was damaged and its namespace lives: it is left to the runtime's DEL",
  );
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

function isSettled(record: AttachmentRecord, work: RecordWork): boolean {
  return record.phase === "acknowledged" && record.delAttempts === 0 && !work.isDelete;
}
