import { elementsOf, memberOf, isTrueMember, textMember, type JsonNode, type ObjectNode } from "../json-node.ts";
import type { ReadPlugin } from "../read-network.ts";
import { AddressFields, writtenText, type Placed } from "./address-fields.ts";
import type { AddressPool, AddressProblem, AddressReading } from "./address-reading.ts";
import {
  addressText,
  rangesOverlap,
  rangeText,
  rangeWithout,
  type AddressBlock,
  type AddressRange,
} from "./address-range.ts";

/** Where host-local keeps its leases unless a network says otherwise. */
export const hostLocalDataDir = "/var/lib/cni/networks";

/** As host-local reads its configuration: one range at the top, and sets of ranges in `ranges`. */
export function hostLocalPools(plugin: ReadPlugin, ipam: ObjectNode, network: string): AddressReading {
  // Leases are files in a folder with the network's name.
  const leaseKey = `host-local ${textMember(ipam, "dataDir") ?? hostLocalDataDir}/${network}`;
  const sets: readonly (readonly JsonNode[])[] = [
    ...(memberOf(ipam, "subnet") === undefined ? [] : [[ipam]]),
    ...elementsOf(memberOf(ipam, "ranges")?.value).map(elementsOf),
  ];
  const nodes = sets.flatMap((own, set) => own.map((node) => ({ node, set })));
  const readings = nodes.map(({ node, set }) => rangeOf(node, { leaseKey, set }));
  const pools = readings.flatMap(({ pool }) => (pool === undefined ? [] : [pool]));
  const problems = [...readings.flatMap((reading) => reading.problems), ...overlaps(pools)];
  return { pools, problems: nodes.length === 0 ? none(plugin, ipam) : problems };
}

/** Ranges may also come with the pod, if the plugin declares that it takes them. */
function none({ node }: ReadPlugin, ipam: ObjectNode): readonly AddressProblem[] {
  if (isTrueMember(memberOf(node, "capabilities")?.value, "ipRanges")) return [];
  const isWrongKind = memberOf(ipam, "ranges") !== undefined && memberOf(ipam, "ranges")?.value.kind !== "array";
  return isWrongKind
    ? []
    : [{ severity: "error", message: 'host-local has neither "subnet" nor "ranges"', span: ipam }];
}

interface RangeReading {
  readonly pool: AddressPool | undefined;
  readonly problems: readonly AddressProblem[];
}

function rangeOf(node: JsonNode, place: Pick<AddressPool, "leaseKey" | "set">): RangeReading {
  const fields = new AddressFields(node);
  const subnet = fields.block("subnet");
  if (subnet === undefined) {
    if (fields.problems.length === 0) fields.problem(node, 'a range of host-local must have "subnet"');
    return { pool: undefined, problems: fields.problems };
  }
  const text = writtenText(subnet.node);
  checkSubnet(fields, subnet);
  if (sizeOf(subnet.value.range) < 4n) return { pool: undefined, problems: fields.problems };
  const ranges = givenBy(fields, node, subnet.value.range, text);
  const pool: AddressPool = {
    by: "host-local",
    ranges,
    subnet: subnet.value.range,
    ...place,
    span: subnet.node,
  };
  return { pool, problems: fields.problems };
}

function checkSubnet(fields: AddressFields, subnet: Placed<AddressBlock>): void {
  const { range, address, prefix } = subnet.value;
  const text = writtenText(subnet.node);
  if (address.value !== range.first)
    fields.problem(subnet.node, `"subnet" has host bits: ${text}`, {
      remedy: `write ${addressText({ family: range.family, value: range.first })}/${prefix}`,
    });
  if (sizeOf(range) < 4n)
    fields.problem(subnet.node, `"subnet" ${text} is too small: host-local needs at least 4 addresses`);
}

function sizeOf({ first, last }: AddressRange): bigint {
  return last - first + 1n;
}

/** What host-local gives of a subnet: from start to end, without the gateway, which is the first address by default. */
function givenBy(fields: AddressFields, node: JsonNode, subnet: AddressRange, text: string): readonly AddressRange[] {
  const { family } = subnet;
  const first = fields.inside("rangeStart", { subnet, text }) ?? subnet.first + 1n;
  const last = fields.inside("rangeEnd", { subnet, text }) ?? subnet.last - (family === 4 ? 1n : 0n);
  const gateway = fields.gateway(subnet, text)?.value.value ?? subnet.first + 1n;
  if (first <= last) return rangeWithout({ family, first, last }, [{ family, first: gateway, last: gateway }]);
  fields.problem(node, '"rangeStart" is behind "rangeEnd", so the range is empty');
  return [];
}

/** host-local refuses a network whose own ranges overlap. */
function overlaps(pools: readonly AddressPool[]): readonly AddressProblem[] {
  return pools.flatMap((pool, at) =>
    pools.slice(0, at).flatMap((earlier): readonly AddressProblem[] => {
      const other = earlier.ranges.find((left) => pool.ranges.some((right) => rangesOverlap(left, right)));
      if (other === undefined) return [];
      return [
        { severity: "error", message: `the range overlaps ${rangeText(other)} of the same network`, span: pool.span },
      ];
    }),
  );
}
