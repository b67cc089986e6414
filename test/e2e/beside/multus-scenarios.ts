/**
 * The nine scenarios of Multus' own end-to-end tests (the folder `e2e` of its repository), in our words. Each says what
 * its script looks at, and fails where the script only prints a difference. Where our cluster of one node differs from
 * theirs, the scenario says how.
 */
import { expect } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cluster } from "../cluster.ts";
import { nodeName } from "../machine.ts";
import { applyNetworks, confFolder, fetchFrom, hostLocal, inPod, network, podInterfaces } from "../networks.ts";
import { staticPodFolder } from "../node/kubelet.ts";
import { podObject } from "../pods.ts";
import { say } from "../say.ts";
import { names, networksAnnotation, podsOn } from "../the-levee.ts";
import { until } from "../until.ts";
import { deviceClaims } from "./dra-scenario.ts";
import type { MetaCni } from "./meta-cni.ts";

/** Interface of the node that the macvlan networks hang on. */
export const uplink = "eth1";
/** What Multus' e2e writes into `daemon-config.json`, for both. */
export const e2eSettings = { cniVersion: "0.4.0", forceCNIVersion: true, connectionLimit: 1 };
const densityPairs = 32;

export interface CarriedOver {
  /** The first cell of its row in docs/compat.md. */
  readonly name: string;
  readonly run: (node: { readonly cluster: Cluster; readonly meta: MetaCni }) => Promise<void>;
  /** A part of the error with which it is known to fail on Multus v4.3.0. */
  readonly failsOnMultus?: string;
}

export const multusScenarios: readonly CarriedOver[] = [
  { name: "simple pod", run: ({ cluster }) => simplePod(cluster) },
  { name: "macvlan", run: ({ cluster }) => macvlan(cluster) },
  {
    name: "default route",
    run: ({ cluster }) => defaultRoute(cluster),
    failsOnMultus: "10.1.1.254",
  },
  { name: "static pod", run: ({ cluster }) => staticPod(cluster) },
  {
    name: "subdirectory chaining",
    run: ({ cluster }) => chained(cluster, "primary", "net.ipv4.conf.IFNAME.arp_filter"),
  },
  { name: "subdirectory chaining with passthru, after a change of the configuration", run: passthru },
  { name: "connection limit", run: ({ cluster }) => connectionLimit(cluster) },
  { name: "node density", run: ({ cluster }) => nodeDensity(cluster) },
  { name: "device claims (DRA)", run: ({ cluster }) => deviceClaims(cluster) },
];

/** A pod that asks for nothing is ready. */
async function simplePod({ pods }: Cluster): Promise<void> {
  await pods.run([{ name: "simple" }]);
  await pods.remove(["simple"]);
}

/** A chain of macvlan and tuning, with an address that the pod names. The two pods are on one node here. */
async function macvlan({ api, pods }: Cluster): Promise<void> {
  const plugin = { type: "macvlan", capabilities: { ips: true }, master: uplink, mode: "bridge" };
  const plugins = [{ ...plugin, ipam: { type: "static" } }, { type: "tuning" }];
  await applyNetworks(api, network("macvlan1-config", { cniVersion: e2eSettings.cniVersion, plugins }));
  const two = [1, 2].map((number) => ({
    name: `macvlan1-worker${number}`,
    annotations: asking({ name: "macvlan1-config", ips: [`10.1.1.1${number}/24`] }),
  }));
  await pods.run(two);
  expect(two.map(({ name }) => addressOn(name, "net1"))).toEqual(["10.1.1.11", "10.1.1.12"]);
  await untilServed("macvlan1-worker1", "macvlan1-worker2", "net1");
  await pods.remove(two.map(({ name }) => name));
}

/** One pod moves its default route to the second network, the other leaves it. */
async function defaultRoute({ api, pods }: Cluster): Promise<void> {
  const plugin = { type: "macvlan", master: uplink, mode: "bridge", ipam: { type: "static" } };
  await applyNetworks(api, network("default-route-config", { cniVersion: e2eSettings.cniVersion, plugins: [plugin] }));
  const request = { name: "default-route-config" };
  const moved = { ...request, "ips": ["10.1.1.21/24"], "default-route": ["10.1.1.254"] };
  await pods.run([
    { name: "default-route-worker1", annotations: asking(moved) },
    { name: "default-route-worker2", annotations: asking({ ...request, ips: ["10.1.1.22/24"] }) },
  ]);
  const two = ["default-route-worker1", "default-route-worker2"];
  expect(two.map((name) => addressOn(name, "net1"))).toEqual(["10.1.1.21", "10.1.1.22"]);
  expect(two.map(defaultGateways)).toEqual([["10.1.1.254"], ["10.244.0.1"]]);
  await pods.remove(two);
}

/** A pod that the kubelet starts from a file has its second interface. */
async function staticPod({ api, pods }: Cluster): Promise<void> {
  const bridge = { cniVersion: "0.3.1", name: "testnet", type: "bridge", bridge: "testnet0" };
  await applyNetworks(api, network("bridge-nad", { ...bridge, ipam: hostLocal("10.10.0.0/16") }));
  const file = join(staticPodFolder, "static-web.yaml");
  const pod = podObject({ name: "static-web", annotations: { [networksAnnotation]: "bridge-nad" } });
  writeFileSync(file, JSON.stringify(pod));
  const name = `static-web-${nodeName}`;
  try {
    await pods.untilReady([name]);
    expect(addressOn(name, "net1")).toStartWith("10.10.");
  } finally {
    rmSync(file);
  }
  await pods.untilGone([name]);
}

/** A file in the folder named after a list adds a plugin to it; theirs is put there by a DaemonSet. */
async function chained({ pods }: Cluster, list: string, sysctl: string): Promise<void> {
  const folder = join(confFolder, list);
  const plugin = {
    cniVersion: e2eSettings.cniVersion,
    name: "sysctltwiddle",
    type: "tuning",
    sysctl: { [sysctl]: "1" },
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "sysctltwiddle.conf"), JSON.stringify(plugin));
  try {
    await pods.run([{ name: "sysctl-modified" }]);
    expect(inPod("sysctl-modified", "cat", "/proc/sys/net/ipv4/conf/eth0/arp_filter").trim()).toBe("1");
    await pods.remove(["sysctl-modified"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The configuration names an auxiliary chain, which takes effect with a restart. */
async function passthru({ cluster, meta }: { readonly cluster: Cluster; readonly meta: MetaCni }): Promise<void> {
  const chain = "vendor-cni-chain";
  const { connectionLimit: _none, ...updated } = e2eSettings;
  await meta.serve({ ...updated, auxiliaryCNIChainName: chain });
  try {
    await chained(cluster, chain, "net.ipv4.conf.eth0.arp_filter");
  } finally {
    await meta.serve(e2eSettings);
  }
}

/** Six pods at once, with one connection at a time in the configuration. */
async function connectionLimit({ pods }: Cluster): Promise<void> {
  const six = names("many", 6);
  await pods.run(six.map((name) => ({ name })));
  await pods.remove(six);
}

/**
 * Servers and clients at once, 64 pods on the node, each client sees its server. They have a Service between them; there
 * is no kube-proxy here, so clients fetch from the server's own address on either network.
 */
async function nodeDensity({ api, pods }: Cluster): Promise<void> {
  const plugin = { type: "macvlan", master: uplink, mode: "bridge", ipam: hostLocal("10.20.0.0/16") };
  await applyNetworks(api, network("density-macvlan", { cniVersion: "0.4.0", name: "density-macvlan", ...plugin }));
  const servers = names("webserver", densityPairs);
  const clients = names("curl", densityPairs);
  const beganMs = performance.now();
  await pods.run(podsOn([...servers, ...clients], "density-macvlan"), 240_000);
  say(`${2 * densityPairs} pods are ready after ${((performance.now() - beganMs) / 1000).toFixed(0)} s`);
  for (const [index, client] of clients.entries()) {
    await untilServed(client, servers[index] ?? "", "eth0");
    await untilServed(client, servers[index] ?? "", "net1");
  }
  await pods.remove([...servers, ...clients]);
}

function asking(...requests: readonly object[]): Record<string, string> {
  return { [networksAnnotation]: JSON.stringify(requests) };
}

function addressOn(pod: string, ifname: string): string {
  return podInterfaces(pod).find((link) => link.ifname === ifname)?.addresses[0] ?? "";
}

function defaultGateways(pod: string): readonly string[] {
  const routes = JSON.parse(inPod(pod, "ip", "-json", "route", "show", "default")) as readonly { gateway?: string }[];
  return routes.map(({ gateway }) => gateway ?? "");
}

/** A container that runs may not listen yet. */
async function untilServed(client: string, server: string, ifname: string): Promise<void> {
  const name = await until(`${client} can fetch from ${server} over ${ifname}`, () =>
    fetchFrom(client, addressOn(server, ifname)),
  );
  expect(name).toBe(server);
}
