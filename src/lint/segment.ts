import { resourceNameAnnotation, uplinkAnnotation } from "../base/annotations.ts";
import { integerMember, isTrueMember, textMember, type ObjectNode } from "./json-node.ts";
import type { ReadNetwork } from "./read-network.ts";

/** The L2 segment that a network puts its pods on, as far as its configuration says. */
export interface NetworkSegment {
  /** Networks with one key are on one segment, on each node. */
  readonly key: string;
  /** For people: "eth1, VLAN 57". */
  readonly text: string;
  /** Whether the segments of all nodes are one: `maybe` for a bridge, which may have an uplink. */
  readonly isShared: "yes" | "maybe" | "no";
}

/** The first plugin of a chain makes the interface. Undefined for plugins that say nothing about it. */
export function networkSegment({ network, plugins }: ReadNetwork): NetworkSegment | undefined {
  const [first] = plugins;
  if (first === undefined) return undefined;
  const reader = Object.hasOwn(readers, first.type) ? readers[first.type] : undefined;
  return reader?.(first.node, network.annotations);
}

type SegmentReader = (node: ObjectNode, annotations: Readonly<Record<string, string>>) => NetworkSegment | undefined;

const readers: Readonly<Record<string, SegmentReader>> = {
  "macvlan": (node) => linkSegment(node, 0),
  // The other modes route, and have no segment.
  "ipvlan": (node) => ((textMember(node, "mode") ?? "l2") === "l2" ? linkSegment(node, 0) : undefined),
  "vlan": (node) => linkSegment(node, integerMember(node, "vlanId") ?? 0),
  "bridge": bridgeSegment,
  "cnv-bridge": bridgeSegment,
  "ovs": (node) => portSegment("OVS bridge", textMember(node, "bridge"), node),
  "sriov": (node, annotations) => portSegment("devices of", annotations[resourceNameAnnotation], node),
};

/** `eth1.57` is the usual name of VLAN 57 on eth1, so both ways to it are one segment. */
function linkSegment(node: ObjectNode, vlan: number): NetworkSegment | undefined {
  if (isTrueMember(node, "linkInContainer")) return undefined;
  const { link, id } = splitLink(textMember(node, "master") ?? "", vlan);
  const what = link === "" ? "the interface of the node's default route" : `the node's interface ${link}`;
  return { key: linkKey({ link, id }), text: withVlan(what, id), isShared: "yes" };
}

/** The segments of an interface of a host, or of several that are one, by the same keys. */
export function hostSegments(
  names: readonly string[],
  vlan: { readonly id: number; readonly parent: string } | undefined,
): ReadonlySet<string> {
  const own = names.flatMap((name) => [linkKey(splitLink(name, 0)), `bridge ${name} 0`, `OVS bridge ${name} 0`]);
  if (vlan === undefined) return new Set(own);
  const { id, parent } = vlan;
  return new Set([...own, linkKey({ link: parent, id }), `bridge ${parent} ${id}`]);
}

interface LinkPlace {
  readonly link: string;
  /** 0: no VLAN. */
  readonly id: number;
}

function linkKey({ link, id }: LinkPlace): string {
  return `link ${link} ${id}`;
}

function splitLink(name: string, vlan: number): LinkPlace {
  const dotted = /^(.+)\.([0-9]{1,4})$/u.exec(name);
  return dotted !== null && vlan === 0 ? { link: dotted[1] ?? "", id: Number(dotted[2]) } : { link: name, id: vlan };
}

function bridgeSegment(node: ObjectNode, annotations: Readonly<Record<string, string>>): NetworkSegment {
  const name = textMember(node, "bridge") ?? "cni0";
  const vlan = integerMember(node, "vlan") ?? 0;
  const isRouted = ["isGateway", "isDefaultGateway", "ipMasq"].some((key) => isTrueMember(node, key));
  const isLocal = isRouted || annotations[uplinkAnnotation] === "none";
  return {
    key: `bridge ${name} ${vlan}`,
    text: withVlan(`the bridge ${name}`, vlan),
    isShared: isLocal ? "no" : "maybe",
  };
}

function portSegment(what: string, name: string | undefined, node: ObjectNode): NetworkSegment | undefined {
  if (name === undefined) return undefined;
  const vlan = integerMember(node, "vlan") ?? 0;
  return {
    key: `${what} ${name} ${vlan}`,
    text: withVlan(`${what} ${name}`, vlan),
    isShared: what === "OVS bridge" ? "maybe" : "yes",
  };
}

function withVlan(what: string, vlan: number): string {
  return vlan === 0 ? what : `${what}, VLAN ${vlan}`;
}
