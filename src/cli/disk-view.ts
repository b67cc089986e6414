import type { Chain } from "../cni/chain.ts";
import { parseResult, type CniResult } from "../cni/result.ts";
import type { AttachmentRecord } from "../state/attachment-record.ts";
import type { LeakEntry } from "../state/leak-ledger.ts";
import type { Quarantined } from "../state/quarantine.ts";
import type {
  AttachmentsAnswer,
  AttachmentView,
  LeaksAnswer,
  NetworkView,
  TimelineAnswer,
  TimelineEntry,
} from "../wire/node-view.ts";
import type { PodKey } from "./names.ts";

/** The journal as it lies on disk. */
export interface DiskJournal {
  readonly records: readonly AttachmentRecord[];
  readonly leaks: readonly LeakEntry[];
  readonly quarantined: readonly Quarantined[];
}

/** The daemon's answers, made from what it left on disk. Nobody works on anything now, so nothing is "attaching". */
export function attachmentsOnDisk(journal: DiskJournal): AttachmentsAnswer {
  return { attachments: journal.records.map(attachmentView) };
}

export function leaksOnDisk(journal: DiskJournal): LeaksAnswer {
  return {
    leaks: journal.leaks.map((leak) => ({
      id: leak.id,
      namespace: leak.pod?.namespace ?? "",
      pod: leak.pod?.name ?? "",
      containerId: leak.containerId,
      network: leak.chains.map((chain) => chain.network).join(","),
      ifname: leak.chains[0]?.ifname ?? leak.ifname,
      reason: leak.reason,
      sinceWallMs: leak.sinceWallMs,
      attempts: leak.attempts,
    })),
    quarantined: journal.quarantined.map((one) => ({
      file: one.name,
      reason: one.reason,
      sinceWallMs: one.foundWallMs,
    })),
  };
}

/** The journal keeps what was done, not when each step was: one line per fact. */
export function timelineOnDisk(journal: DiskJournal, pod: PodKey): TimelineAnswer {
  const records = journal.records.filter((record) =>
    pod.namespace === ""
      ? record.containerId === pod.name
      : record.pod.namespace === pod.namespace && record.pod.name === pod.name,
  );
  return { namespace: pod.namespace, name: pod.name, entries: records.flatMap(entriesOf) };
}

function attachmentView(record: AttachmentRecord): AttachmentView {
  return {
    namespace: record.pod.namespace,
    pod: record.pod.name,
    uid: record.pod.uid,
    containerId: record.containerId,
    netns: record.netns.path,
    phase: phaseOf(record),
    sinceWallMs: record.startedWallMs,
    networks: record.chains.map((chain, at) => networkView(record, chain, at)),
  };
}

function phaseOf(record: AttachmentRecord): AttachmentView["phase"] {
  if (record.phase === "acknowledged") return record.delAttempts > 0 ? "detaching" : "attached";
  return record.phase === "undoing" ? "undoing" : "lost";
}

function networkView(record: AttachmentRecord, chain: Chain, at: number): NetworkView {
  const result = resultOf(record, chain, at);
  return {
    network: chain.network,
    ifname: chain.ifname,
    isDefault: chain.isDefault,
    plugins: chain.links.map((link) => link.type),
    ips: result?.ips.map((ip) => ip.address) ?? [],
    mac: result?.interfaces.find(({ name }) => name === chain.ifname)?.mac ?? "",
  };
}

/** A result that cannot be read costs its addresses, not the whole list. */
function resultOf(record: AttachmentRecord, chain: Chain, at: number): CniResult | undefined {
  const text = record.results[at];
  if (text === undefined) return undefined;
  try {
    return parseResult(text, chain.cniVersion);
  } catch {
    return undefined; // The daemon says more about it when it starts.
  }
}

function entriesOf(record: AttachmentRecord): readonly TimelineEntry[] {
  const base = { wallMs: record.startedWallMs, containerId: record.containerId, verb: "ADD" };
  const planned = {
    ...base,
    what: "planned",
    detail: record.chains.map((chain) => `${chain.network} as ${chain.ifname}`).join(", "),
  };
  const failed =
    record.failure === undefined
      ? []
      : [{ ...base, what: "failed", detail: `${record.failure.message} (${record.failure.code})` }];
  const ended = record.phase === "intent" || record.phase === "undoing" ? [] : [{ ...base, what: record.phase }];
  const deletes =
    record.delAttempts === 0
      ? []
      : [{ ...base, verb: "DEL", what: "failed", detail: `${record.delAttempts} attempts so far` }];
  return [planned, ...failed, ...ended, ...deletes];
}
