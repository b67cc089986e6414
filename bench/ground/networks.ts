import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** A network on a bridge with addresses from host-local: common in clusters, and a realistic amount of work. */
export interface BridgeNetwork {
  readonly name: string;
  readonly bridge: string;
  readonly subnet: string;
}

/** The network that every pod has, and the network that pods request. */
export const primary: BridgeNetwork = { name: "lan", bridge: "levb0", subnet: "10.213.0.0/16" };
export const secondary: BridgeNetwork = { name: "dmz", bridge: "levb1", subnet: "10.214.0.0/16" };
/** A bridge has at most 1,023 ports, so the second half of 2,000 pods uses these. */
export const primaryToo: BridgeNetwork = { name: "lan-too", bridge: "levb2", subnet: "10.215.0.0/16" };
export const secondaryToo: BridgeNetwork = { name: "dmz-too", bridge: "levb3", subnet: "10.216.0.0/16" };
export const allNetworks = [primary, secondary, primaryToo, secondaryToo];

export function confOf(network: BridgeNetwork, leases: string, type = "bridge"): Record<string, unknown> {
  const ipam = { type: "host-local", dataDir: leases, ranges: [[{ subnet: network.subnet }]] };
  return { cniVersion: "1.0.0", name: network.name, type, bridge: network.bridge, ipam };
}

/** The number of leased addresses. */
export function leaseCount(leases: string): number {
  return allNetworks
    .map(({ name }) => join(leases, name))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).filter((file) => /^\d+\./u.test(file))).length;
}

/** The number of interfaces on the bridges. */
export function portCount(): number {
  return allNetworks.reduce((sum, { bridge }) => {
    const ports = `/sys/class/net/${bridge}/brif`;
    return sum + (existsSync(ports) ? readdirSync(ports).length : 0);
  }, 0);
}

/** Restores the state of a node that has had no pod yet. */
export function removeNetworks(leases: string): void {
  for (const { bridge } of allNetworks) spawnSync("ip", ["link", "delete", bridge]);
  rmSync(leases, { recursive: true, force: true });
}
