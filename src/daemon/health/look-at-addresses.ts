import { addressNumber } from "../../lint/addresses/address-range.ts";
import { isIfName } from "../../cni/interface-name.ts";
import type { Hand } from "../../hands/hand.ts";
import { hostSegments } from "../../lint/segment.ts";
import type { InterfaceAddress } from "./host-addresses.ts";
import { readVlans, type Vlans } from "./look-at-uplinks.ts";
import type { HostAddress } from "./range-need.ts";

/** Each interface is an order to the hand; hardly a host has more than one of them in a range. */
const interfacesMax = 16;

/** The segments of these addresses, by the interfaces directly above and below theirs. */
export async function placeAddresses(
  hand: Hand,
  addresses: readonly InterfaceAddress[],
): Promise<readonly HostAddress[]> {
  if (addresses.length === 0 || !hand.supports("list")) return [];
  const vlans: Vlans = (await readVlans(hand)) ?? new Map();
  const names = [...new Set(addresses.map(({ ifname }) => ifname))].filter(isIfName).slice(0, interfacesMax);
  const segments = new Map<string, ReadonlySet<string>>();
  for (const name of names) {
    const page = await hand.list(`/sys/class/net/${name}/.`).catch(() => undefined);
    const vlan = vlans.get(name);
    // A VLAN's device is on another segment than the interface below it.
    const near = (page?.entries ?? []).map((entry) => nearPattern.exec(entry.name)?.groups ?? {});
    const beside = near.flatMap(({ side, other = "" }) =>
      other === "" || vlans.has(other) || (side === "lower" && vlan !== undefined) ? [] : [other],
    );
    segments.set(name, hostSegments([name, ...beside], vlan));
  }
  return addresses.flatMap(({ ifname, text }) => {
    const [own, address] = [segments.get(ifname), addressNumber(text)];
    return own === undefined || address === undefined ? [] : [{ ifname, text, address, segments: own }];
  });
}

const nearPattern = /^(?<side>lower|upper)_(?<other>.+)$/u;
