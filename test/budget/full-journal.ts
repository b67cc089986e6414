import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
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
} from "../../src/base/brand.ts";
import type { Chain } from "../../src/cni/chain.ts";
import { encodeLine } from "../../src/state/files/checked-line.ts";
import type { AttachmentRecord } from "../../src/state/journal/attachment-record.ts";
import { entryToJson, type JournalEntry } from "../../src/state/journal/journal-entry.ts";
import type { LeakEntry } from "../../src/state/journal/leak-ledger.ts";

/** What the journal of a killed daemon holds. */
interface Content {
  /** Attached pods, each with two networks, as their ADDs wrote them. */
  readonly pods: number;
  readonly leaks?: number;
  readonly bootId: string;
}

/** Writes a state folder by hand: thousands of real ADDs would take minutes. */
export function writeFullJournal(stateDir: string, { pods, leaks = 0, bootId }: Content): void {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const journal = openSync(join(stateDir, "journal.log"), "w", 0o600);
  const index = openSync(join(stateDir, "containers.idx"), "w", 0o600);
  const write = (entry: JournalEntry): void => void writeSync(journal, encodeLine("L", entryToJson(entry)));
  write({ kind: "genesis", genesis: { bootId, createdWallMs: 1_700_000_000_000, importDone: true, leaksDropped: 0 } });
  for (let number = 0; number < pods; number += 1) {
    const record = recordOf(number, bootId);
    const { token } = record;
    const results = [resultOf(number, 1, "eth0"), resultOf(number, 2, "net1")];
    write({ kind: "begin", record });
    for (const [step, result] of results.entries()) write({ kind: "step", token, step: { step, result } });
    write({ kind: "commit", token, results });
    write({ kind: "acknowledge", token });
    writeSync(index, encodeLine("C", `+${JSON.stringify(record.containerId)}`));
  }
  for (let number = 0; number < leaks; number += 1) write({ kind: "leak", leak: leakOf(pods + number, bootId) });
  for (const file of [journal, index]) closeSync(file);
}

function recordOf(number: number, bootId: string): AttachmentRecord {
  const containerId = hexOf(number, 64);
  const [namespace, name] = [`team-${number % 20}`, `web-${hexOf(number, 10)}-${number}`];
  const uid = `${hexOf(number, 8)}-0000-4000-8000-${hexOf(number, 12)}`;
  const args = `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${containerId};K8S_POD_UID=${uid}`;
  return {
    token: hexOf(number, 32),
    containerId: containerId as ContainerId,
    ifname: "eth0" as IfName,
    netns: { path: netnsOf(number), identity: { device: 4n, inode: 4_026_532_000n + BigInt(number) } },
    bootId,
    pod: { namespace: namespace as Namespace, name: name as PodName, uid: uid as PodUid },
    cniPath: "/opt/cni/bin",
    cniVersion: "1.0.0",
    hand: { pid: 4_711 + number, pidStart: 1_234_567 + number, pidNamespace: 4_026_531_836 },
    startedWallMs: 1_700_000_000_000 + number,
    chains: [chainOf("cluster", "eth0", args), chainOf("second", "net1", args)],
    phase: "intent",
    steps: new Map(),
    results: [],
    failure: undefined,
    delAttempts: 0,
    origin: "levee",
  };
}

function leakOf(number: number, bootId: string): LeakEntry {
  const { containerId, ifname, pod, chains, netns, cniPath } = recordOf(number, bootId);
  return {
    id: hexOf(number, 16),
    ...{ containerId, ifname, pod, netns, cniPath, bootId },
    chains: chains.slice(1),
    results: [resultOf(number, 2, "net1")],
    reason: "Cannot run the plugin bridge of team/second: it exited with 1: the link is busy and stays busy",
    sinceWallMs: 1_700_000_000_000 + number,
    attempts: 3,
    hasTimedOut: false,
    repeats: 0,
    // Not during the test.
    nextTryWallMs: Date.now() + 3_600_000,
  };
}

function chainOf(network: string, ifname: string, cniArgs: string): Chain {
  const config =
    `{"cniVersion":"1.0.0","name":"${network}","type":"bridge","bridge":"br-${network}","isGateway":true,"hairpinMode":true,` +
    `"ipam":{"type":"host-local","ranges":[[{"subnet":"10.1.0.0/16","gateway":"10.1.0.1"}]],"routes":[{"dst":"0.0.0.0/0"}],"dataDir":"/var/lib/cni/networks"}}`;
  return {
    network: network as NetworkName,
    confName: network,
    ifname: ifname as IfName,
    cniVersion: "1.0.0",
    isDefault: ifname === "eth0",
    cniArgs,
    links: [{ type: "bridge" as PluginType, stdin: config as JsonText }],
    disableCheck: false,
    disableGC: false,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config: config as JsonText, isList: false, capabilityArgs: {}, request: {} },
  };
}

function resultOf(number: number, network: number, ifname: string): JsonText {
  const [high, low] = [Math.floor(number / 256), number % 256];
  const host = { name: `veth${hexOf(number, 8)}`, mac: `0a:58:0a:0${network}:00:01` };
  const own = { name: ifname, mac: `0a:58:0a:0${network}:${high}:${low}`, sandbox: netnsOf(number) };
  const address = { address: `10.${network}.${high}.${low}/16`, gateway: `10.${network}.0.1`, interface: 2 };
  return JSON.stringify({
    cniVersion: "1.0.0",
    interfaces: [{ name: "br-cluster", mac: "8a:6b:4a:31:aa:01" }, host, own],
    ips: [address],
    routes: [{ dst: "0.0.0.0/0" }],
    dns: {},
  }) as JsonText;
}

function netnsOf(number: number): string {
  return `/var/run/netns/cni-${hexOf(number, 8)}-ac3d-11ee-be56-${hexOf(number, 12)}`;
}

/** Ends in the number, and looks random before it. */
function hexOf(number: number, digits: number): string {
  let [text, state] = ["", number + 1];
  while (text.length < digits) {
    state = Math.imul(state, 1_103_515_245) + 12_345;
    text += (state >>> 0).toString(16).padStart(8, "0");
  }
  return digits < 16 ? text.slice(0, digits) : text.slice(0, digits - 8) + number.toString(16).padStart(8, "0");
}
