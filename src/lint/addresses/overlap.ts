import type { AddressPool } from "./address-reading.ts";
import { rangesOverlap, type AddressRange } from "./address-range.ts";

/** A network with its segment and its pools, however it was read. */
export interface SegmentPools<Network> {
  readonly network: Network;
  readonly segment: string;
  readonly pools: readonly Pick<AddressPool, "ranges" | "leaseKey">[];
}

export interface PoolOverlap<Network> {
  readonly network: Network;
  readonly other: Network;
  /** The addresses that both give. */
  readonly shared: AddressRange;
}

/**
 * Networks of one segment that give the same addresses, and whose address plugins do not know of each other's leases.
 * Each network is named once. Sorted ranges are compared with those that still go on, so thousands of networks are quick.
 */
export function poolOverlaps<Network>(networks: readonly SegmentPools<Network>[]): readonly PoolOverlap<Network>[] {
  return [...Map.groupBy(networks, ({ segment }) => segment).values()].flatMap(overlapsInSegment);
}

interface GivenRange<Network> extends AddressRange {
  readonly order: number;
  readonly network: Network;
  readonly leaseKey: string;
}

function overlapsInSegment<Network>(networks: readonly SegmentPools<Network>[]): readonly PoolOverlap<Network>[] {
  const ranges = networks.flatMap(({ network, pools }, order) =>
    pools.flatMap((pool) =>
      pool.ranges.map((range): GivenRange<Network> => ({ ...range, order, network, leaseKey: pool.leaseKey })),
    ),
  );
  const found = new Map<number, PoolOverlap<Network>>();
  let open: readonly GivenRange<Network>[] = [];
  for (const range of ranges.toSorted(byStart)) {
    open = open.filter((earlier) => rangesOverlap(earlier, range));
    const clash = open.find((earlier) => earlier.order !== range.order && !knowEachOther(earlier, range));
    if (clash !== undefined) addOverlap(found, clash, range);
    open = [...open.slice(-openMax), range];
  }
  return [...found.entries()].toSorted(([left], [right]) => left - right).map(([, overlap]) => overlap);
}

/** More networks than this over one address are found all the same: each overlaps its neighbours. */
const openMax = 64;

/** The later network is the one to change. */
function addOverlap<Network>(
  found: Map<number, PoolOverlap<Network>>,
  left: GivenRange<Network>,
  right: GivenRange<Network>,
): void {
  const [earlier, later] = left.order < right.order ? [left, right] : [right, left];
  if (found.has(later.order)) return;
  const first = left.first > right.first ? left.first : right.first;
  const last = left.last < right.last ? left.last : right.last;
  found.set(later.order, {
    network: later.network,
    other: earlier.network,
    shared: { family: left.family, first, last },
  });
}

function knowEachOther(left: { readonly leaseKey: string }, right: { readonly leaseKey: string }): boolean {
  return left.leaseKey !== "" && left.leaseKey === right.leaseKey;
}

function byStart(left: AddressRange, right: AddressRange): number {
  if (left.family !== right.family) return left.family - right.family;
  if (left.first === right.first) return 0;
  return left.first < right.first ? -1 : 1;
}
