import type { Chain } from "../../cni/chain.ts";
import { parseResult, type CniResult } from "../../cni/result.ts";
import type { AttachmentRecord } from "./attachment-record.ts";
import type { LeakEntry } from "./leak-ledger.ts";
import type { Quarantined } from "../files/quarantine.ts";
import type { RecorderEntry } from "../recorder/recorder-entry.ts";

/** The state for people: the same from the daemon's memory and, without a daemon, from its disk. */

/** A record without its phase. Only a daemon knows whether a call works on the record; a file does not. */
export function recordView(record: AttachmentRecord): RecordView {
  return {
    namespace: record.pod.namespace,
    pod: record.pod.name,
    uid: record.pod.uid,
    containerId: record.containerId,
    netns: record.netns.path,
    sinceWallMs: record.startedWallMs,
    networks: record.chains.map((chain, position) => networkView(record, chain, position)),
  };
}

interface RecordView {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly containerId: string;
  readonly netns: string;
  readonly sinceWallMs: number;
  readonly networks: readonly RecordNetworkView[];
}

interface RecordNetworkView {
  readonly network: string;
  readonly ifname: string;
  readonly isDefault: boolean;
  readonly plugins: readonly string[];
  readonly ips: readonly string[];
  readonly mac: string;
}

export function leakView(leak: LeakEntry): RecordedLeakView {
  return {
    id: leak.id,
    namespace: leak.pod?.namespace ?? "",
    pod: leak.pod?.name ?? "",
    containerId: leak.containerId,
    network: leak.chains.map((chain) => chain.network).join(","),
    ifname: leak.chains[0]?.ifname ?? leak.ifname,
    reason: leak.reason,
    sinceWallMs: leak.sinceWallMs,
    attempts: leak.attempts,
  };
}

interface RecordedLeakView {
  readonly id: string;
  readonly namespace: string;
  readonly pod: string;
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
  readonly reason: string;
  readonly sinceWallMs: number;
  readonly attempts: number;
}

/** The facts already have the field names of the protocol. */
export function recorderView({ wallMs, containerId, verb, what, facts }: RecorderEntry): RecorderView {
  return { ...facts, wallMs, containerId, verb, what };
}

type RecorderView = Pick<RecorderEntry, "wallMs" | "containerId" | "verb" | "what">;

export function quarantineView({ name, reason, foundWallMs }: Quarantined): {
  readonly file: string;
  readonly reason: string;
  readonly sinceWallMs: number;
} {
  return { file: name, reason, sinceWallMs: foundWallMs };
}

function networkView(record: AttachmentRecord, chain: Chain, position: number): RecordNetworkView {
  const result = resultOf(record, chain, position);
  return {
    network: chain.network,
    ifname: chain.ifname,
    isDefault: chain.isDefault,
    plugins: chain.links.map((link) => link.type),
    ips: result?.ips.map((ip) => ip.address) ?? [],
    mac: result?.interfaces.find(({ name }) => name === chain.ifname)?.mac ?? "",
  };
}

/** An unreadable result loses its addresses, but not the whole list. */
function resultOf(record: AttachmentRecord, chain: Chain, position: number): CniResult | undefined {
  const text = record.results[position];
  if (text === undefined) return undefined;
  try {
    return parseResult(text, chain.cniVersion);
  } catch {
    // Levee's own results were checked at ADD. A result of Multus may be anything, and its DEL need not read it.
    return undefined;
  }
}
