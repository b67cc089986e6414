import type { ConsoleNetworkStory } from "../../wire/console-story.ts";
import type { RangeSizes } from "../facts/address-ranges.ts";
import type { IpamSeen } from "../facts/network-seen.ts";

type Room = Pick<ConsoleNetworkStory, "addresses" | "addressesWhy">;

/** Addresses that one node's host-local holds for the network. */
export interface NodeLeases extends RangeSizes {
  readonly node: string;
}

/**
 * How many addresses a network has and how many are taken: of whereabouts by the pods that use one, as one pool serves the
 * whole cluster; of host-local on the node that has the fewest left, as each node has a range of its own.
 */
export function addressRoom(ipam: IpamSeen, attached: number, onNodes: readonly NodeLeases[]): Room {
  const { type, sizes } = ipam;
  if (type === "") return { addressesWhy: "the network has no IPAM: its plugin gives no addresses" };
  if (type !== "host-local" && type !== "whereabouts")
    return { addressesWhy: `the console cannot count the addresses of ${type}` };
  if (sizes.v4 + sizes.v6 === 0) return { addressesWhy: `the console cannot read the ranges of this ${type}` };
  if (type === "whereabouts") return { addresses: scarcer(sizes, { v4: attached, v6: attached }), addressesWhy: "" };
  const [fullest] = onNodes
    .map((leases) => ({ node: leases.node, ...scarcer(sizes, leases) }))
    .toSorted((one, two) => one.total - one.used - (two.total - two.used));
  if (fullest === undefined)
    return { addressesWhy: "host-local keeps its addresses on each node, and no node's daemon has told of them" };
  const { node, total, used } = fullest;
  const others = onNodes.length === 1 ? "the only node" : `the fullest of ${onNodes.length} nodes`;
  return {
    addresses: { total, used },
    addressesWhy: `on ${node}, ${others} that told: host-local has a range on each`,
  };
}

/** A pod needs an address of each family that the network has, so the family with fewer left counts. */
function scarcer(sizes: RangeSizes, used: RangeSizes): { readonly total: number; readonly used: number } {
  const families = ([4, 6] as const)
    .map((family) => ({ total: sizes[`v${family}`], used: Math.min(used[`v${family}`], sizes[`v${family}`]) }))
    .filter(({ total }) => total > 0);
  return families.reduce((less, one) => (one.total - one.used < less.total - less.used ? one : less));
}
