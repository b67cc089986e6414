import {
  addressNumber,
  rangeHas,
  rangeWithout,
  type AddressNumber,
  type AddressRange,
} from "../../lint/addresses/address-range.ts";
import type { AddressPool } from "../../lint/addresses/address-reading.ts";
import { readAddresses } from "../../lint/addresses/read-addresses.ts";
import { isTrueMember, textMember } from "../../lint/json-node.ts";
import { readUnplaced, type ReadNetwork, type UnplacedNetwork } from "../../lint/read-network.ts";
import { networkSegment } from "../../lint/segment.ts";

/** What a network gives to pods, and the L2 segment on which no one else may have it. */
export interface RangeNeed {
  /** The key of `networkSegment`. */
  readonly segment: string;
  readonly ranges: readonly AddressRange[];
}

/** An address of the host, and the segments on which it answers. */
export interface HostAddress {
  readonly ifname: string;
  readonly text: string;
  readonly address: AddressNumber;
  readonly segments: ReadonlySet<string>;
}

/** Undefined for a network without ranges that we could read, or whose segment its configuration does not say. */
export function rangeNeed(network: UnplacedNetwork): RangeNeed | undefined {
  const read = readUnplaced(network);
  const segment = read === undefined ? undefined : networkSegment(read);
  if (read === undefined || segment === undefined) return undefined;
  const ranges = readAddresses(read).pools.flatMap((pool) => withoutGateway(read, pool));
  return ranges.length === 0 ? undefined : { segment: segment.key, ranges };
}

export function rangesHave({ ranges }: RangeNeed, address: AddressNumber | undefined): boolean {
  return address !== undefined && ranges.some((range) => rangeHas(range, address));
}

/** The host may well be the gateway of its pods: that is a matter of the configuration, not of this host. */
function withoutGateway(read: ReadNetwork, { ranges, subnet }: AddressPool): readonly AddressRange[] {
  const written = read.plugins.flatMap(({ ipam }) => addressNumber(textMember(ipam?.node, "gateway") ?? "") ?? []);
  // The bridge plugin takes the first address where no gateway is named.
  const isGateway = read.plugins.some(({ node }) => gatewayKeys.some((key) => isTrueMember(node, key)));
  const first = { family: subnet.family, value: subnet.first + 1n };
  const gateways = written.length === 0 && isGateway ? [first] : written;
  const taken = gateways.map(({ family, value }) => ({ family, first: value, last: value }));
  return ranges.flatMap((range) => rangeWithout(range, taken));
}

const gatewayKeys = ["isGateway", "isDefaultGateway"];
