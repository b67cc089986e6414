import { expect, test } from "bun:test";
import { networkStatusAnnotation } from "../../base/annotations.ts";
import type { IfName, Namespace, NetworkName, PodName, PodUid } from "../../base/brand.ts";
import { aChain, aRecord } from "../../state/journal/record.fixture.ts";
import type { PodFacts } from "../../view/pod-facts.ts";
import { isStatusStale } from "./stale-status.ts";

const lan = aChain({ network: "prod/lan" as NetworkName, ifname: "net1" as IfName });
const record = aRecord(1, { chains: [lan] });

function isStale(status: string | undefined, chains = [lan]): boolean {
  const pod: PodFacts = {
    namespace: "prod" as Namespace,
    name: "web" as PodName,
    uid: "u1" as PodUid,
    annotations: status === undefined ? {} : { [networkStatusAnnotation]: status },
    priority: undefined,
    isStatic: false,
  };
  return isStatusStale(pod, { ...record, chains });
}

const entry = (name: string, ifname: unknown): object => ({ name, interface: ifname, ips: ["10.1.0.2"] });

test.each([
  ["names what the pod has", [entry("prod/lan", "net1")], false],
  ["names a network that went", [entry("prod/lan", "net1"), entry("prod/wan", "net2")], true],
  ["has another network at the interface", [entry("prod/wan", "net1")], true],
  ["has the network at another interface", [entry("prod/lan", "net2")], true],
  ["lacks an entry, which the repair finds", [], false],
  ["names the primary network, which has no definition", [entry("cbr0", "eth0")], false],
  ["has no interface for an entry", [entry("prod/wan", "")], false],
  ["has entries that are none", [null, 5, { name: "prod/wan" }, entry("prod/wan", 7)], false],
] as const)("isStatusStale: a status that %s", (_what, entries, expected) => {
  expect(isStale(JSON.stringify(entries))).toBe(expected);
});

test.each([
  ["no status", undefined],
  ["a status that is no JSON", '[{"name":"prod/wan","interface":"net2"'],
  ["a status that is no list", '{"name":"prod/wan","interface":"net2"}'],
])("isStatusStale says nothing of %s", (_what, status) => {
  expect(isStale(status)).toBe(false);
});

test("isStatusStale takes a network that Multus has plugged by its interface, as its name is not known", () => {
  const plugged = aChain({ network: "lan-conf" as NetworkName, ifname: "net2" as IfName });
  expect(isStale(JSON.stringify([entry("prod/any", "net2")]), [lan, plugged])).toBe(false);
  expect(isStale(JSON.stringify([entry("prod/any", "net3")]), [lan, plugged])).toBe(true);
});
