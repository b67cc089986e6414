import { elementsOf, memberOf, isTrueMember, textMember, type JsonNode, type ObjectNode } from "../json-node.ts";
import { shownValue } from "../shown-value.ts";
import { AddressFields, writtenText, type Placed } from "./address-fields.ts";
import type { AddressPool, AddressProblem, AddressReading, WhereaboutsLeases } from "./address-reading.ts";
import {
  addressBlock,
  addressNumber,
  addressText,
  rangeHas,
  rangeWithout,
  type AddressBlock,
  type AddressRange,
} from "./address-range.ts";

/** As whereabouts reads its configuration: a range at the top, and more in `ipRanges`. */
export function whereaboutsPools(ipam: ObjectNode): AddressReading {
  const nodes = [
    ...(textMember(ipam, "range") === undefined ? [] : [ipam]),
    ...elementsOf(memberOf(ipam, "ipRanges")?.value),
  ];
  const readings = nodes.map((node, set) => rangeOf(ipam, node, set));
  return {
    pools: readings.flatMap(({ pool }) => (pool === undefined ? [] : [pool])),
    problems: readings.flatMap(({ problems }) => problems),
  };
}

/**
 * Unless it is switched off, whereabouts reserves every address in the whole cluster, so its pools know of each other
 * within one network name.
 */
function leasesOf(ipam: ObjectNode): WhereaboutsLeases {
  return {
    networkName: textMember(ipam, "network_name") ?? "",
    isShared:
      memberOf(ipam, "enable_overlapping_ranges") === undefined || isTrueMember(ipam, "enable_overlapping_ranges"),
    isPerNode: (textMember(ipam, "node_slice_size") ?? "") !== "",
  };
}

/** whereabouts names a pool by its subnet, however the configuration writes it. */
function leaseKeyOf({ networkName, isShared }: WhereaboutsLeases, { range, prefix }: AddressBlock): string {
  const subnet = `${addressText({ family: range.family, value: range.first })}/${prefix}`;
  return `whereabouts ${networkName} ${isShared ? "" : subnet}`;
}

interface RangeReading {
  readonly pool: AddressPool | undefined;
  readonly problems: readonly AddressProblem[];
}

function rangeOf(ipam: ObjectNode, node: JsonNode, set: number): RangeReading {
  const fields = new AddressFields(node);
  const found = blockOf(fields, node);
  if (found === undefined) return { pool: undefined, problems: fields.problems };
  const subnet = found.value.block.range;
  const text = writtenText(found.node);
  // The gateway is for all ranges; with several it may belong to another one.
  if (node === ipam && memberOf(ipam, "ipRanges") === undefined) fields.gateway(subnet, text);
  const ranges = givenBy(fields, node, found);
  const leases = leasesOf(ipam);
  const leaseKey = leaseKeyOf(leases, found.value.block);
  const pool: AddressPool = { by: "whereabouts", ranges, subnet, leaseKey, set, leases, span: found.node };
  return { pool, problems: fields.problems };
}

function givenBy(fields: AddressFields, node: JsonNode, found: Placed<WrittenRange>): readonly AddressRange[] {
  const { block, start, end } = found.value;
  const inside = { subnet: block.range, text: writtenText(found.node) };
  // A subnet of one or two addresses has no network and no broadcast address.
  const edge = block.range.last - block.range.first < 2n ? 0n : 1n;
  const [lowest, highest] = [block.range.first + edge, block.range.last - edge];
  const from = start ?? fields.inside("range_start", inside) ?? lowest;
  const to = end ?? fields.inside("range_end", inside) ?? highest;
  // It gives no pod those two addresses, even where the configuration begins or ends with them.
  const first = from < lowest ? lowest : from;
  const last = to > highest ? highest : to;
  if (first > last) {
    fields.problem(found.node, "the range's start is behind its end, so it is empty");
    return [];
  }
  const given: AddressRange = { family: block.range.family, first, last };
  const ranges = rangeWithout(given, excluded(fields, node));
  if (ranges.length === 0) fields.problem(found.node, '"exclude" leaves no address of the range');
  return ranges;
}

interface WrittenRange {
  readonly block: AddressBlock;
  readonly start?: bigint;
  readonly end?: bigint;
}

function blockOf(fields: AddressFields, node: JsonNode): Placed<WrittenRange> | undefined {
  const value = memberOf(node, "range")?.value;
  if (value === undefined) fields.problem(node, 'an entry of "ipRanges" must have "range"');
  if (value?.kind !== "string") return undefined;
  const written = writtenRange(value.text);
  if (written === undefined) {
    const wanted = "10.1.0.0/24, or 10.1.0.10-10.1.0.20/24";
    fields.problem(value, `"range" must be such as ${wanted}: it is ${shownValue(value.text)}`);
    return undefined;
  }
  return { value: written, node: value };
}

/** `192.168.2.0/24`, or `192.168.2.10-192.168.2.20/24`. */
function writtenRange(text: string): WrittenRange | undefined {
  const [start = "", end] = text.split("-", 2);
  const block = addressBlock(end ?? start);
  if (block === undefined || end === undefined) return block === undefined ? undefined : { block };
  const from = addressNumber(start);
  if (from === undefined || !rangeHas(block.range, from)) return undefined;
  return { block, start: from.value, end: block.address.value };
}

function excluded(fields: AddressFields, node: JsonNode): readonly AddressRange[] {
  return elementsOf(memberOf(node, "exclude")?.value).flatMap((element) => {
    const text = writtenText(element);
    const single = addressNumber(text);
    if (single !== undefined) return [{ family: single.family, first: single.value, last: single.value }];
    const block = addressBlock(text);
    if (block !== undefined) return [block.range];
    fields.problem(element, `"exclude" must have subnets such as 10.1.0.0/30: it has ${shownValue(text)}`);
    return [];
  });
}
