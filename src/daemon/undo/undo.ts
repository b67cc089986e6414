import { LeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import { leakOf, type LeakEntry } from "../../state/journal/leak-ledger.ts";
import type { ChainReports } from "../chains/chain-reports.ts";
import { removeDeviceInfo } from "../look-up/device-info.ts";
import { dismantle, type ChainFailure, type NetnsNow } from "./undo-chains.ts";
import { keepLeak } from "./leaks.ts";
import type { NodePorts } from "../node-ports.ts";
import { subjectOf } from "../record/subject.ts";

/** Who does it, where the namespace is now, and how much time there is at most; by default all that the settings give. */
export interface RetirePlace {
  readonly hand: Hand;
  readonly now: NetnsNow;
  readonly limitMs?: number;
  /** Who counts what the plugins do; nobody for work that belongs to no call. */
  readonly reports?: ChainReports | undefined;
}

/**
 * Undoes an ADD that failed or whose shim was lost. What cannot be undone goes to the leak ledger; the record ends
 * here. Resolves to whether nothing is left.
 */
export async function undoRecord(record: AttachmentRecord, place: RetirePlace, ports: NodePorts): Promise<boolean> {
  const limitMs = Math.min(ports.config.addUndoMs, place.limitMs ?? Number.POSITIVE_INFINITY);
  const failures = await dismantle(place.hand, record, place.now, {
    ports,
    limitMs,
    verb: "UNDO",
    reports: place.reports,
  });
  await leak(record, place.now, failures, ports);
  await forget(record, ports);
  ports.timeline.note(subjectOf(record, "UNDO"), failures.length > 0 ? "leaked" : "undone");
  return failures.length === 0;
}

/**
 * Carries out a DEL. The first failures are the runtime's to know, and it retries; after that the record goes to the
 * leak ledger and the DEL succeeds: a failing plugin must not pin the sandbox for ever.
 */
export async function deleteRecord(record: AttachmentRecord, place: RetirePlace, ports: NodePorts): Promise<void> {
  const limitMs = Math.min(ports.config.delDelegatesMs, place.limitMs ?? Number.POSITIVE_INFINITY);
  const failures = await dismantle(place.hand, record, place.now, {
    ports,
    limitMs,
    verb: "DEL",
    reports: place.reports,
  });
  if (failures.length > 0) {
    const reason = failures.map((failure) => failure.error.message).join("; ");
    if (record.delAttempts + 1 < ports.config.delAttemptsMax) {
      await ports.journal.delFailed(record.token, reason);
      throw failures.length === 1 && failures[0] !== undefined
        ? failures[0].error
        : new LeveeError("delegate-failed", reason);
    }
  }
  await leak(record, place.now, failures, ports);
  await forget(record, ports);
  ports.timeline.note(subjectOf(record, "DEL"), failures.length > 0 ? "leaked" : "finished");
}

/**
 * Ends a record in Multus' files, in the journal and among the deletes that were made while we were away. The journal
 * is not first: a daemon that dies in between comes back to the record, and does the rest.
 */
async function forget(record: AttachmentRecord, ports: NodePorts): Promise<void> {
  ports.publisher.drop(record.containerId);
  ports.spareTime.drop(record.token);
  ports.statusTime.drop(record.token);
  await ports.mirror.remove(record);
  await removeDeviceInfo(record, ports.config.deviceInfoDir, ports.logger);
  await ports.journal.removed(record.token);
  await ports.offline.dropDelete(record.containerId, record.ifname);
}

/** Writes down what could not be undone, once, and crosses out what an earlier trial wrote down and this one undid. */
async function leak(
  record: AttachmentRecord,
  now: NetnsNow,
  failures: readonly ChainFailure[],
  ports: NodePorts,
): Promise<void> {
  const known = knownLeaks(record, ports);
  const seen = withIdentity(record, now, ports.bootId);
  for (const [index, entry] of known) {
    if (!failures.some((failure) => failure.index === index)) await ports.journal.leakResolved(entry.id);
  }
  for (const { index, error } of failures) {
    if (known.some(([position]) => position === index)) continue;
    await keepLeak(leakOf(seen, [index], error.message, ports.clock), ports);
  }
}

/**
 * What Multus attached, or what was worked out again, knows its namespace only by path. A later trial must not take
 * another namespace at that path for it, so the one seen now is written down.
 */
export function withIdentity(record: AttachmentRecord, now: NetnsNow, bootId: string): AttachmentRecord {
  return record.netns.identity === undefined ? { ...record, netns: now, bootId } : record;
}

/** What a daemon that died before it could end the record wrote down of it: each entry with the place of its chain. */
function knownLeaks(record: AttachmentRecord, ports: NodePorts): readonly (readonly [number, LeakEntry])[] {
  const entries = ports.journal.leaks().filter((entry) => entry.containerId === record.containerId);
  return record.chains.flatMap((chain, index) =>
    entries
      .filter((entry) => entry.chains.some((other) => isSameChain(other, chain)))
      .map((entry) => [index, entry] as const),
  );
}

function isSameChain(left: Chain, right: Chain): boolean {
  const hasSameLinks =
    left.links.length === right.links.length && left.links.every((link, at) => link.stdin === right.links[at]?.stdin);
  return left.network === right.network && left.ifname === right.ifname && hasSameLinks;
}
