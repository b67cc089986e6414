import { addressCount, rangeHas, rangesOverlap } from "../../lint/addresses/address-range.ts";
import { scarcest, scarcestRooms, type NetworkRoom, type PoolRoom } from "../../lint/addresses/pool-room.ts";
import type { AddressPoolObject } from "./address-pool-object.ts";
import type { CountedPool, WatchedNetwork } from "./watched-network.ts";

interface Counter {
  readonly network: string;
  readonly pool: CountedPool;
  /** By the namespace of the objects: an older whereabouts may have left some in another one. */
  readonly used: Map<string, number>;
  /** The node's slice with the fewest addresses left. */
  slice: PoolRoom | undefined;
}

/** Counts what whereabouts' IPPools hold of each network definition, one object after the other. */
export class AddressCount {
  readonly #whole = new Map<string, Counter[]>();
  readonly #sliced: Counter[] = [];
  readonly #nodes: ReadonlySet<string>;

  /** The nodes' names tell a slice of a node from the pool of a named network. */
  constructor(networks: Iterable<WatchedNetwork>, nodes: ReadonlySet<string>) {
    this.#nodes = nodes;
    for (const { namespace, name, counted = [] } of networks)
      for (const pool of counted) {
        const counter = { network: `${namespace}/${name}`, pool, used: new Map<string, number>(), slice: undefined };
        if (pool.leases.isPerNode) this.#sliced.push(counter);
        else this.#whole.set(pool.leases.networkName, [...(this.#whole.get(pool.leases.networkName) ?? []), counter]);
      }
  }

  get isEmpty(): boolean {
    return this.#whole.size + this.#sliced.length === 0;
  }

  add(object: AddressPoolObject): void {
    for (const counter of this.#whole.get(object.owner) ?? []) addWhole(counter, object);
    for (const counter of this.#sliced) if (this.#isSliceOf(object, counter)) addSlice(counter, object);
  }

  /** The networks that hold an address, each with the scarcest of its ranges: a pod needs an address of each. */
  rooms(): readonly NetworkRoom[] {
    const counters = [...[...this.#whole.values()].flat(), ...this.#sliced];
    const networks = Map.groupBy(counters, ({ network }) => network);
    return scarcestRooms(
      [...networks].flatMap(([network, own]) => {
        const room = scarcest(own.flatMap((counter) => counter.slice ?? roomOf(counter) ?? []));
        return room === undefined ? [] : [{ network, ...room }];
      }),
    );
  }

  #isSliceOf({ owner, subnet }: AddressPoolObject, { pool }: Counter): boolean {
    const { networkName } = pool.leases;
    const isOurs = networkName === "" || owner.startsWith(`${networkName}-`);
    const node = networkName === "" ? owner : owner.slice(networkName.length + 1);
    return isOurs && this.#nodes.has(node) && rangesOverlap(pool.subnet, subnet);
  }
}

function addWhole({ pool, used }: Counter, { namespace, subnet, taken }: AddressPoolObject): void {
  const { first, last } = pool.subnet;
  const isOwn = subnet.family === pool.subnet.family && subnet.first === first && subnet.last === last;
  if (!isOwn && !(pool.leases.isShared && rangesOverlap(pool.subnet, subnet))) return;
  const { family } = subnet;
  const held = taken.filter((value) => pool.ranges.some((range) => rangeHas(range, { family, value }))).length;
  if (held > 0) used.set(namespace, (used.get(namespace) ?? 0) + held);
}

/** In a slice whereabouts regards neither start, end nor exclusions of the range. */
function addSlice(counter: Counter, { subnet, taken }: AddressPoolObject): void {
  const { family, first, last } = subnet;
  const usable = { family, first: first + 1n, last: last - 1n };
  const held = taken.filter((value) => rangeHas(usable, { family, value })).length;
  if (held === 0) return;
  const room = roomWith(addressCount([usable]), held);
  counter.slice = counter.slice === undefined ? room : scarcest([counter.slice, room]);
}

function roomOf({ pool, used }: Counter): PoolRoom | undefined {
  return used.size === 0 ? undefined : roomWith(addressCount(pool.ranges), Math.max(...used.values()));
}

function roomWith(addresses: bigint, held: number): PoolRoom {
  const total = Number(addresses);
  return { total, left: Math.max(0, total - held) };
}
