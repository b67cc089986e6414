import type { ConsoleNetworkStory } from "../../wire/console-story.ts";
import type { IpamSeen } from "../facts/network-seen.ts";

type Room = Pick<ConsoleNetworkStory, "addresses" | "addressesWhy">;

/** How many addresses a network has and how many pods use one, where one pool serves the whole cluster. */
export function addressRoom({ type, range }: IpamSeen, attached: number): Room {
  if (type === "") return { addressesWhy: "the network has no IPAM: its plugin gives no addresses" };
  if (type === "host-local")
    return { addressesWhy: "host-local keeps its addresses on each node; levee check node shows one" };
  const total = type === "whereabouts" ? sizeOf(range) : undefined;
  if (total === undefined) return { addressesWhy: `the console cannot count the addresses of ${type}` };
  return { addresses: { total, used: attached }, addressesWhy: "" };
}

/** Addresses of an IPv4 range for pods: without the network's own and the broadcast address. */
function sizeOf(range: string): number | undefined {
  const [, bits = ""] = /^\d{1,3}(?:\.\d{1,3}){3}\/(\d{1,2})$/u.exec(range) ?? [];
  const size = bits === "" || Number(bits) > 32 ? 0 : 2 ** (32 - Number(bits)) - 2;
  return size > 0 ? size : undefined;
}
