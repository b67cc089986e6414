import type { ReadNetwork } from "../read-network.ts";
import type { AddressReading } from "./address-reading.ts";
import { hostLocalPools } from "./host-local-pools.ts";
import { staticPools } from "./static-pools.ts";
import { whereaboutsPools } from "./whereabouts-pools.ts";

/** What the address plugins of a network give. Other address plugins have no ranges that we could read. */
export function readAddresses(read: ReadNetwork): AddressReading {
  const readings = read.plugins.flatMap((plugin) => {
    if (plugin.ipam === undefined) return [];
    switch (plugin.ipam.type) {
      case "host-local":
        return [hostLocalPools(plugin, plugin.ipam.node, read.name)];
      case "whereabouts":
        return [whereaboutsPools(plugin.ipam.node)];
      case "static":
        return [staticPools(plugin.ipam.node)];
      default:
        return [];
    }
  });
  return {
    pools: readings.flatMap(({ pools }) => pools),
    problems: readings.flatMap(({ problems }) => problems),
  };
}
