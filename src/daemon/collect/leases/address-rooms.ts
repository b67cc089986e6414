import { join, normalize } from "node:path";
import type { Lease } from "../../../hands/lease.ts";
import { hostLocalDataDir } from "../../../lint/addresses/host-local-pools.ts";
import { poolRoom, scarcestRooms, type NetworkRoom } from "../../../lint/addresses/pool-room.ts";
import { readAddresses } from "../../../lint/addresses/read-addresses.ts";
import { readUnplaced } from "../../../lint/read-network.ts";
import type { NetworkDefinition } from "../../../view/network-definition.ts";

/** How many addresses each network with leases has left on this node. One that cannot be read is left out. */
export function addressRooms(
  definitions: readonly NetworkDefinition[],
  leases: readonly Lease[],
  dataDir: string,
): readonly NetworkRoom[] {
  const taken = byFolder(leases);
  const rooms = definitions.flatMap((definition): readonly NetworkRoom[] => {
    const read = readUnplaced(definition);
    const pools = read === undefined ? [] : readAddresses(read).pools.filter(({ by }) => by === "host-local");
    const [first] = pools;
    const own = first === undefined ? undefined : taken.get(folderOf(first.leaseKey, dataDir));
    if (own === undefined) return [];
    const addresses = own.map(({ address }) => address);
    const room = poolRoom(pools, addresses);
    return room === undefined ? [] : [{ network: `${definition.namespace}/${definition.name}`, ...room }];
  });
  return scarcestRooms(rooms);
}

/** Leases of one folder follow each other, and there are hundreds in each. */
function byFolder(leases: readonly Lease[]): ReadonlyMap<string, readonly Lease[]> {
  let last: Lease | undefined;
  let folder = "";
  return Map.groupBy(leases, (lease) => {
    if (lease.dataDir !== last?.dataDir || lease.network !== last.network) folder = join(lease.dataDir, lease.network);
    last = lease;
    return folder;
  });
}

/** The key is the plugin's folder; the usual one is where the settings say. */
function folderOf(leaseKey: string, dataDir: string): string {
  const folder = normalize(leaseKey.slice(leaseKey.indexOf("/")));
  return folder.startsWith(`${hostLocalDataDir}/`) ? join(dataDir, folder.slice(hostLocalDataDir.length)) : folder;
}
