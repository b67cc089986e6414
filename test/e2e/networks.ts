import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Api, KubeObject } from "./api.ts";
import { applyAll, pathOf } from "./manifests.ts";
import { run } from "./run.ts";
import { sandboxes } from "./node/containerd.ts";

export const confFolder = "/etc/cni/net.d";
/** Where host-local keeps its addresses, a folder per network. */
export const leaseFolder = "/var/lib/cni/networks";

interface PrimaryOptions {
  readonly form?: "list" | "single";
  readonly subnet?: string;
  readonly bridge?: string;
}

/** The network every pod has: a chain, since most real ones are. */
export function writePrimary(
  cniVersion: string,
  { form = "list", subnet = "10.244.0.0/22", bridge = "primary0" }: PrimaryOptions = {},
): void {
  const plugin = { type: "bridge", bridge, isDefaultGateway: true, ipam: hostLocal(subnet) };
  const head = { cniVersion, name: "primary" };
  mkdirSync(confFolder, { recursive: true });
  if (form === "list") putConf("10-primary.conflist", { ...head, plugins: [plugin, { type: "tuning" }] });
  else putConf("10-primary.conf", { ...head, ...plugin });
  rmSync(join(confFolder, form === "list" ? "10-primary.conf" : "10-primary.conflist"), { force: true });
}

/** In one step, as an agent that knows its craft does it. */
function putConf(name: string, conf: unknown): void {
  writeFileSync(join(confFolder, `${name}.new`), JSON.stringify(conf, undefined, 2));
  renameSync(join(confFolder, `${name}.new`), join(confFolder, name));
}

export function hostLocal(subnet: string): Record<string, unknown> {
  return { type: "host-local", ranges: [[{ subnet }]] };
}

/** A second network on a bridge of its own. */
export function bridgeNetwork(name: string, subnet: string, cniVersion = "0.3.1"): KubeObject {
  return network(name, { cniVersion, type: "bridge", bridge: `${name}0`, ipam: hostLocal(subnet) });
}

export function network(name: string, config: unknown, namespace = "default"): KubeObject {
  return {
    apiVersion: "k8s.cni.cncf.io/v1",
    kind: "NetworkAttachmentDefinition",
    // The plugin makes the bridges of these tests; without this they would need an uplink.
    metadata: { name, namespace, annotations: { "levee.dev/uplink": "none" } },
    spec: { config: JSON.stringify(config) },
  };
}

export async function applyNetworks(api: Api, ...networks: readonly KubeObject[]): Promise<void> {
  await applyAll(api, networks);
}

export async function deleteNetwork(api: Api, name: string, namespace = "default"): Promise<void> {
  await api.delete(pathOf("NetworkAttachmentDefinition", namespace, name));
}

/** Addresses that host-local holds, as `network/address`. */
export function leases(): readonly string[] {
  return listing(leaseFolder).flatMap((name) =>
    listing(`${leaseFolder}/${name}`)
      .filter((file) => /^[0-9a-f.:]+$/.test(file))
      .map((address) => `${name}/${address}`),
  );
}

/** Ports of a bridge on the machine: one per attached pod. */
export function bridgePorts(bridge: string): number {
  const links = JSON.parse(run("ip", "-json", "link", "show")) as readonly { ifname: string; master?: string }[];
  return links.filter(({ master }) => master === bridge).length;
}

export function hostInterfaces(...which: readonly string[]): readonly string[] {
  const links = JSON.parse(run("ip", "-json", "link", "show", ...which)) as readonly { ifname: string }[];
  return links.map(({ ifname }) => ifname);
}

/** Names of the interfaces in a network namespace. */
export function linksIn(netns: string): readonly string[] {
  const links = run("nsenter", `--net=${netns}`, "ip", "-json", "link", "show");
  return (JSON.parse(links) as readonly { ifname: string }[]).map(({ ifname }) => ifname);
}

export interface PodInterface {
  readonly ifname: string;
  readonly mac: string;
  readonly addresses: readonly string[];
}

/** A pod's interfaces as they are in its network namespace, without the loopback. */
export function podInterfaces(pod: string): readonly PodInterface[] {
  return interfacesIn(netnsOf(pod));
}

/** The same for a network namespace by its path. */
export function interfacesIn(netns: string): readonly PodInterface[] {
  const links = JSON.parse(run("nsenter", `--net=${netns}`, "ip", "-json", "addr", "show")) as readonly {
    ifname: string;
    address: string;
    addr_info: readonly { local: string; scope: string }[];
  }[];
  return links
    .filter(({ ifname }) => ifname !== "lo")
    .map(({ ifname, address, addr_info: info }) => ({
      ifname,
      mac: address,
      addresses: info.filter(({ scope }) => scope === "global").map(({ local }) => local),
    }));
}

/** Fetches the name that the pod at this address serves, from within another pod. */
export function fetchFrom(pod: string, address: string): Promise<string> {
  // Bash speaks TCP by itself, and every Debian has it.
  const script = `exec 3<>/dev/tcp/${address}/8080 && printf 'GET /name HTTP/1.0\r\n\r\n' >&3 && cat <&3`;
  return new Promise((resolve, reject) => {
    const args = [`--net=${netnsOf(pod)}`, "timeout", "5", "bash", "-c", script];
    execFile("nsenter", args, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trimEnd().split("\n").at(-1) ?? "");
      else reject(new Error(`Pod ${pod} could not fetch from ${address}: ${stderr.trim() || error.message}`));
    });
  });
}

/** Runs a program of this machine in a pod's network namespace; its output. */
export function inPod(pod: string, program: string, ...args: readonly string[]): string {
  return run("nsenter", `--net=${netnsOf(pod)}`, program, ...args);
}

/** The network namespace of a pod; of several sandboxes of the same name the one that still has a namespace. */
function netnsOf(pod: string): string {
  const known = listing("/run/netns");
  const netns = sandboxes().find(
    (box) => box.pod === pod && known.includes(box.netns.slice(box.netns.lastIndexOf("/") + 1)),
  );
  if (netns === undefined) throw new Error(`There is no sandbox of pod ${pod}`);
  return netns.netns;
}

export function listing(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
