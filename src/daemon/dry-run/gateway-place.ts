import type { JsonText } from "../../base/brand.ts";
import { jsonNodeOf, elementsOf, integerMember, isTrueMember, memberOf, textMember } from "../../lint/json-node.ts";
import type { JsonNode } from "../../lint/json-node.ts";
import { addressBlock, addressNumber, addressText, type AddressBlock } from "../../lint/addresses/address-range.ts";

/** Where a bridge plugin puts the gateways of a network. */
export interface GatewayPlace {
  /** The bridge, or the interface that the plugin makes for its VLAN. */
  readonly device: string;
  /** With their prefix lengths. Undefined where only the address plugin knows them. */
  readonly gateways: readonly AddressBlock[] | undefined;
  /** The plugin takes other addresses away from the device. */
  readonly isForced: boolean;
}

/** Undefined for a bridge that gets no address. */
export function gatewayPlace(stdin: JsonText): GatewayPlace | undefined {
  const node = jsonNodeOf(stdin);
  const ipam = memberOf(node, "ipam")?.value;
  const isGateway = isTrueMember(node, "isGateway") || isTrueMember(node, "isDefaultGateway");
  // Without an address plugin it works on layer 2 only, whatever it says of gateways.
  if (!isGateway || (textMember(ipam, "type") ?? "") === "") return undefined;
  const bridge = textMember(node, "bridge") || "cni0";
  const vlan = integerMember(node, "vlan") ?? 0;
  return {
    device: vlan === 0 ? bridge : `${bridge}.${vlan}`,
    gateways: gatewaysOf(ipam),
    isForced: isTrueMember(node, "forceAddress"),
  };
}

/** What the plugin would change although the device has these addresses, and how to avoid that; undefined for nothing. */
export function changesOfBridge(
  { device, gateways, isForced }: GatewayPlace,
  held: readonly string[],
): string | undefined {
  if (gateways === undefined)
    return `the plugin gives the host's bridge ${device} an address that only the address plugin knows, and would leave it there; start a pod with it instead`;
  const blocks = held.flatMap((text) => addressBlock(text) ?? []);
  const lacking = gateways.find((gateway) => !blocks.some((block) => isSame(block, gateway)));
  if (lacking !== undefined) {
    const text = textOf(lacking);
    return `the host's bridge ${device} has no address ${text}, so the plugin would give it this gateway's address and leave it there; add it (ip address add ${text} dev ${device}), or let the first pod do it`;
  }
  const other = blocks.find((block) => !isLinkLocal(block) && !gateways.some((gateway) => isSame(block, gateway)));
  return isForced && other !== undefined
    ? `with forceAddress the plugin may take the address ${textOf(other)} away from the host's bridge ${device}; start a pod with it instead`
    : undefined;
}

/** As host-local and whereabouts read their ranges, and bridge their results. */
function gatewaysOf(ipam: JsonNode | undefined): readonly AddressBlock[] | undefined {
  switch (textMember(ipam, "type")) {
    case "host-local": {
      const sets = elementsOf(memberOf(ipam, "ranges")?.value).flatMap(elementsOf);
      const ranges = [...(ipam === undefined || memberOf(ipam, "subnet") === undefined ? [] : [ipam]), ...sets];
      return whole(ranges.map((range) => gatewayIn(textMember(range, "subnet"), textMember(range, "gateway"))));
    }
    case "whereabouts": {
      const range = textMember(ipam, "range");
      const more = elementsOf(memberOf(ipam, "ipRanges")?.value).map((one) => textMember(one, "range"));
      const ranges = [...(range === undefined ? [] : [range]), ...more];
      // It names one gateway for all of its ranges.
      const gateway = textMember(ipam, "gateway");
      return gateway !== undefined && ranges.length > 1
        ? undefined
        : whole(ranges.map((text) => gatewayIn(text?.slice(text.indexOf("-") + 1), gateway)));
    }
    default:
      return undefined;
  }
}

/** The gateway of a subnet; the first address of it unless another one is named. */
function gatewayIn(subnet: string | undefined, named: string | undefined): AddressBlock | undefined {
  const block = subnet === undefined ? undefined : addressBlock(subnet);
  if (block === undefined) return undefined;
  const { family, first } = block.range;
  const address = named === undefined || named === "" ? { family, value: first + 1n } : addressNumber(named);
  return address === undefined ? undefined : { ...block, address };
}

function whole<T>(found: readonly (T | undefined)[]): readonly T[] | undefined {
  const there = found.filter((one) => one !== undefined);
  return there.length === found.length ? there : undefined;
}

function isSame(left: AddressBlock, right: AddressBlock): boolean {
  const [{ family, value }, other] = [left.address, right.address];
  return family === other.family && value === other.value && left.prefix === right.prefix;
}

function isLinkLocal({ address: { family, value } }: AddressBlock): boolean {
  return family === 6 && value >> 118n === 0x3fan;
}

function textOf({ address, prefix }: AddressBlock): string {
  return `${addressText(address)}/${prefix}`;
}
