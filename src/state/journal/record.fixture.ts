import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  ContainerId,
  IfName,
  JsonText,
  Namespace,
  NetworkName,
  PluginType,
  PodName,
  PodUid,
} from "../../base/brand.ts";
import { systemClock } from "../../base/clock.ts";
import { silentLogger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import type { AttachmentRecord } from "./attachment-record.ts";
import { Journal, type JournalOptions } from "./journal.ts";

export const bootId = "2f1c0f0e-0000-4000-8000-000000000001";

export function json(text: string): JsonText {
  return text as JsonText;
}

export function containerId(text: string): ContainerId {
  return text as ContainerId;
}

export function tokenOf(number: number): string {
  return number.toString(16).padStart(32, "0");
}

export function aChain(change: Partial<Chain> = {}): Chain {
  const config = json(
    '{"cniVersion":"1.0.0","name":"lan","type":"bridge","big":9007199254740993,"mtu":1500.0,"mtu":1500}',
  );
  return {
    network: "default/lan" as NetworkName,
    confName: "lan",
    ifname: "net1" as IfName,
    cniVersion: "1.0.0",
    isDefault: false,
    cniArgs: "IgnoreUnknown=true;K8S_POD_NAMESPACE=default",
    links: [{ type: "bridge" as PluginType, stdin: config }],
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: true, dropV6: false, gateways: ["10.0.0.1"] },
    multus: {
      config,
      isList: false,
      capabilityArgs: { mac: json('"02:00:00:00:00:01"') },
      request: { mac: "02:00:00:00:00:01", ips: ["10.0.0.5/24"] },
    },
    ...change,
  };
}

export function aRecord(number: number, change: Partial<AttachmentRecord> = {}): AttachmentRecord {
  return {
    token: tokenOf(number),
    containerId: containerId(`container${number}`),
    ifname: "eth0" as IfName,
    netns: { path: `/run/netns/pod${number}`, identity: { device: 4n, inode: 18446744073709551615n } },
    bootId,
    pod: { namespace: "default" as Namespace, name: `pod${number}` as PodName, uid: `uid${number}` as PodUid },
    cniPath: "/opt/cni/bin",
    cniVersion: "1.0.0",
    hand: { pid: 4711, pidStart: 123456, pidNamespace: 4026531836 },
    startedWallMs: 1_700_000_000_000,
    chains: [aChain()],
    phase: "intent",
    steps: new Map(),
    results: [],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
    ...change,
  };
}

export async function aFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "levee-state-"));
}

export async function openIn(stateDir: string, change: Partial<JournalOptions> = {}): Promise<Journal> {
  return Journal.open({ stateDir, bootId, clock: systemClock, logger: silentLogger, ...change });
}

/** Writes an acknowledged attachment. */
export async function attachIn(journal: Journal, record: AttachmentRecord): Promise<void> {
  await journal.begin(record);
  await journal.step(record.token, { step: 1, result: json('{"ips":[]}') });
  await journal.commit(record.token, [json('{"cniVersion":"1.0.0","ips":[]}')]);
  await journal.acknowledge(record.token);
}
