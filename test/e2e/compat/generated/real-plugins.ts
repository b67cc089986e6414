import { networksAnnotation } from "../compat-cluster.ts";
import { networksNamespace, versions, type Draft } from "./draft.ts";
import { oddNumbers } from "./odd-values.ts";

/** The reference plugins in real namespaces; `{parent}` is a device of the stage. */
export function realPlugins(draft: Draft): void {
  const { random } = draft;
  const version = random.pick(versions);
  draft.conf = {
    cniVersion: random.pick(versions),
    delegates: [draft.chance(0.7) ? bridge(draft, "a", version) : ptp(draft, version)],
  };
  const words = ["lan", "dmz"].slice(0, random.pick([0, 1, 1, 2]));
  const names = words.map((word) =>
    draft.define(word, random.pick([bridgeList, bridgeList, macvlanList, addressed])(draft, word)),
  );
  draft.annotations[networksAnnotation] = `[${names.map((name) => element(draft, name)).join(",")}]`;
}

/** A bridge of the case's own. Names of devices have at most 15 bytes. */
export function bridge(
  draft: Draft,
  letter: string,
  cniVersion: string,
  folder = "{lab}/ipam",
): Record<string, unknown> {
  return {
    cniVersion,
    name: draft.name(`br${letter}`),
    type: "bridge",
    bridge: `lg${letter}${draft.id}`,
    isGateway: draft.chance(0.5),
    ipam: hostLocal(draft, folder),
  };
}

export function bridgeList(draft: Draft, word: string, folder = "{lab}/ipam"): object {
  const { random } = draft;
  const { name, cniVersion, ...plugin } = bridge(draft, word, random.pick(versions), folder);
  const tuning = {
    type: "tuning",
    capabilities: { mac: true },
    ...random.pick([{}, { mtu: 1400 }, { sysctl: { "net.ipv4.conf.all.arp_filter": "1" } }, { mtu: 99_999_999 }]),
  };
  const after = [
    tuning,
    { type: "portmap", capabilities: { portMappings: true } },
    { type: "bandwidth", capabilities: { bandwidth: true } },
  ].filter(() => draft.chance(0.5));
  return {
    cniVersion,
    name,
    plugins: [{ ...plugin, ...random.pick([{}, { capabilities: { mac: true } }]) }, ...after],
  };
}

export function macvlanList(draft: Draft, word: string, folder = "{lab}/ipam"): object {
  const { random } = draft;
  const master = draft.chance(0.9) ? "{parent}" : "nosuch0";
  const plugin = {
    type: "macvlan",
    master,
    mode: "bridge",
    capabilities: { mac: true },
    ipam: hostLocal(draft, folder),
  };
  return {
    cniVersion: random.pick(versions),
    name: draft.name(`mv${word}`),
    plugins: [plugin, { type: "tuning" }].slice(0, random.pick([1, 2])),
  };
}

function ptp(draft: Draft, cniVersion: string): object {
  return { cniVersion, name: draft.name("ptp"), type: "ptp", ipam: hostLocal(draft, "{lab}/ipam") };
}

/** Addresses come from the pod. */
function addressed(draft: Draft, word: string): object {
  const cniVersion = draft.random.pick(versions);
  return {
    cniVersion,
    name: draft.name(`st${word}`),
    type: "macvlan",
    master: "{parent}",
    capabilities: { ips: true },
    ipam: { type: "static" },
  };
}

/** In the range that RFC 2544 keeps for measurements, so that no machine's own network is hidden. */
function hostLocal(draft: Draft, dataDir: string): object {
  return {
    type: "host-local",
    dataDir,
    ranges: [[{ subnet: `198.${draft.random.pick([18, 19])}.${draft.random.below(255)}.0/24` }]],
  };
}

function element(draft: Draft, name: string): string {
  const { random } = draft;
  const port = (): string => (draft.chance(0.7) ? String(18_000 + random.below(2_000)) : random.pick(oddNumbers));
  const rate = (): string => (draft.chance(0.7) ? "1000000" : random.pick(oddNumbers));
  const wanted = [
    `"interface":"${random.pick(["if0", "if1", "lo", "eth0"])}"`,
    '"mac":"02:00:00:00:00:2a"',
    '"ips":["198.18.255.7/24"]',
    `"portMappings":[{"hostPort":${port()},"containerPort":${port()},"protocol":"${random.pick(["tcp", "udp"])}"}]`,
    `"bandwidth":{"ingressRate":${rate()}}`,
    `"bandwidth":{"ingressRate":${rate()},"ingressBurst":${rate()},"egressRate":1000000,"egressBurst":1000000}`,
    '"default-route":["198.18.255.1"]',
  ];
  const chosen = draft.chance(0.6) ? [random.pick(wanted)] : [];
  return `{${[`"name":"${name}"`, `"namespace":"${networksNamespace}"`, ...chosen].join(",")}}`;
}
