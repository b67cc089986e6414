import { expect, test } from "bun:test";
import type { JsonText, Namespace, PluginType } from "../../../base/brand.ts";
import { asJsonText } from "../../../cni/json-text.ts";
import type { AttachmentRecord } from "../../../state/journal/attachment-record.ts";
import { aChain, aRecord } from "../../../state/journal/record.fixture.ts";
import { ConfCache } from "../../look-up/conf-cache.ts";
import { dataDirsOf, hostLocalConf, type LeaseConfNeeds } from "./lease-conf.ts";
import type { Lease } from "../../../hands/lease.ts";

function nodeWith(
  networks: Readonly<Record<string, string>>,
  records: readonly AttachmentRecord[] = [],
): LeaseConfNeeds {
  const definitions = Object.entries(networks).map(([name, config]) => ({
    namespace: "default" as Namespace,
    name,
    config,
    annotations: {},
  }));
  const config = { runtimeCniDir: "/var/lib/cni", delegates: [] };
  const journal = { all: () => records };
  return { config, journal, confs: new ConfCache(), view: { networks: () => definitions } };
}

function lease(dataDir: string): Lease {
  return {
    dataDir,
    network: "lan",
    address: "10.0.0.2",
    containerId: "c",
    isBlank: false,
    ifname: "eth0",
    changedWallMs: 0,
  };
}

const own = `{"cniVersion":"1.0.0","name":"lan","type":"bridge","big":9007199254740993,"ipam":{"type":"host-local","dataDir":"/run/ipam/","subnet":"10.0.0.0/24"}}`;

test("dataDirsOf returns the usual folder, then those of networks, each once and none of the kernel's", () => {
  const node = nodeWith({
    a: own,
    b: own,
    c: '{"ipam":{"dataDir" : "/srv/x/../y"}}',
    d: '{"ipam":{"dataDir":"/srv/../proc/1"}}',
    e: '{"ipam":{"dataDir":"relative"}}',
    f: '{"ipam":{"dataDir":"/"}}',
  });
  expect(dataDirsOf(node)).toEqual(["/var/lib/cni/networks", "/run/ipam", "/srv/y"]);
});

test("hostLocalConf takes the definition's own bytes, with its name and version", () => {
  const conf = hostLocalConf(lease("/run/ipam"), nodeWith({ lan: own }));
  expect(conf).toContain('"big":9007199254740993');
  expect(JSON.parse(conf)).toMatchObject({ name: "lan", cniVersion: "1.0.0", ipam: { subnet: "10.0.0.0/24" } });
});

test("hostLocalConf prefers the stdin of an attached pod to a definition", () => {
  const stdin = asJsonText('{"name":"lan","ipam":{"type":"host-local"},"mine":1}', "the test");
  const chains = [aChain({ links: [{ type: "bridge" as PluginType, stdin }] })];
  expect(hostLocalConf(lease("/var/lib/cni/networks"), nodeWith({}, [aRecord(1, { chains })]))).toBe(stdin);
});

test.each([
  ["the network is unknown", {}],
  ["its definition keeps addresses elsewhere", { lan: own.replace("/run/ipam/", "/run/other") }],
  ["its definition cannot be read", { lan: '{"name":"lan","ipam":{"type":"host-local"' }],
  ["another plugin gives its addresses", { lan: own.replace("host-local", "static") }],
])("hostLocalConf makes the least that will do when %s", (_why, networks: Readonly<Record<string, string>>) => {
  const conf: JsonText = hostLocalConf(lease("/run/ipam"), nodeWith(networks));
  expect(JSON.parse(conf)).toEqual({
    type: "host-local",
    cniVersion: "0.3.1",
    name: "lan",
    ipam: { type: "host-local", dataDir: "/run/ipam", ranges: [[{ subnet: "192.0.2.0/24" }]] },
  });
});
