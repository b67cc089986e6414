import { LeveeError } from "../base/errors.ts";
import type { Hand } from "../hands/hand.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import { leakOf } from "../state/leak-ledger.ts";
import { dismantle, subjectOf, type ChainFailure, type NetnsNow } from "./dismantle.ts";
import type { NodePorts } from "./ports.ts";

/** Undoes an ADD that failed or whose shim was lost. What cannot be undone goes to the leak ledger; the record ends here. */
export async function undoRecord(hand: Hand, record: AttachmentRecord, now: NetnsNow, ports: NodePorts): Promise<void> {
  const failures = await dismantle(hand, record, now, { ports, limitMs: ports.config.addUndoMs, verb: "UNDO" });
  if (failures.length > 0) await leak(record, failures, ports);
  await forget(record, ports);
  ports.timeline.note(subjectOf(record, "UNDO"), failures.length > 0 ? "leaked" : "undone");
}

/**
 * Carries out a DEL. The first failures are the runtime's to know, and it retries; after that the record goes to the
 * leak ledger and the DEL succeeds: a failing plugin must not pin the sandbox for ever.
 */
export async function deleteRecord(hand: Hand, record: AttachmentRecord, now: NetnsNow, ports: NodePorts): Promise<void> {
  const failures = await dismantle(hand, record, now, { ports, limitMs: ports.config.delDelegatesMs, verb: "DEL" });
  if (failures.length > 0) {
    const reason = failures.map((failure) => failure.error.message).join("; ");
    if (record.delAttempts + 1 < ports.config.delAttemptsMax) {
      await ports.journal.delFailed(record.token, reason);
      throw failures.length === 1 && failures[0] !== undefined ? failures[0].error : new LeveeError("delegate-failed", reason);
    }
    await leak(record, failures, ports);
  }
  await forget(record, ports);
  ports.timeline.note(subjectOf(record, "DEL"), failures.length > 0 ? "leaked" : "finished");
}

/** Ends a record in the journal, in Multus' files and among the deletes that were made while we were away. */
async function forget(record: AttachmentRecord, ports: NodePorts): Promise<void> {
  await ports.journal.removed(record.token);
  await ports.mirror.remove(record);
  await ports.offline.dropDelete(record.containerId, record.ifname);
}

async function leak(record: AttachmentRecord, failures: readonly ChainFailure[], ports: NodePorts): Promise<void> {
  for (const { index, error } of failures) {
    await ports.journal.leak(leakOf(record, [index], error.message, ports.clock));
    ports.logger.error("Something could not be undone and is kept in the leak ledger", {
      container: record.containerId,
      network: record.chains[index]?.network,
      reason: error.message,
    });
  }
}
