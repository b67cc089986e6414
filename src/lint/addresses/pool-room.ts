import type { AddressPool } from "./address-reading.ts";
import { addressCount, addressNumber, rangeHas } from "./address-range.ts";

/** How many addresses a network has for pods, and how many of them are left. */
export interface PoolRoom {
  readonly total: number;
  readonly left: number;
}

/** The room of one network definition. */
export interface NetworkRoom extends PoolRoom {
  /** `namespace/name`. */
  readonly network: string;
}

/** A line per network in each scrape. */
const roomsMax = 100;

/** Those with the smallest share left, as far as metrics show them. */
export function scarcestRooms(rooms: readonly NetworkRoom[]): readonly NetworkRoom[] {
  return rooms.toSorted((one, other) => one.left / one.total - other.left / other.total).slice(0, roomsMax);
}

/** Of the set with the fewest left, as a pod needs an address of each. Undefined without ranges. */
export function poolRoom(pools: readonly AddressPool[], taken: readonly string[]): PoolRoom | undefined {
  const addresses = taken.flatMap((text) => addressNumber(text) ?? []);
  const sets = [...Map.groupBy(pools, ({ set }) => set).values()].map((own): PoolRoom => {
    const ranges = own.flatMap((pool) => pool.ranges);
    const total = Number(addressCount(ranges));
    const used = addresses.filter((address) => ranges.some((range) => rangeHas(range, address))).length;
    return { total, left: Math.max(0, total - used) };
  });
  return scarcest(sets);
}

/** The room with the fewest addresses left. */
export function scarcest(rooms: readonly PoolRoom[]): PoolRoom | undefined {
  const [first] = rooms.toSorted((one, other) => one.left - other.left || one.total - other.total);
  return first;
}
