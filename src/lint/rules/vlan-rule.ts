import { elementsOf, memberOf, integerMember, type JsonNode, type ObjectNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { ReadNetwork } from "../read-network.ts";

interface VlanKeys {
  readonly key: string;
  /** Whether 0 means no VLAN. */
  readonly least: 0 | 1;
  readonly trunk?: string;
  /** The first version that takes both. */
  readonly bothSince?: string;
}

/** Where each plugin has its VLAN. */
const vlanKeys: Readonly<Record<string, VlanKeys>> = {
  "bridge": { key: "vlan", least: 0, trunk: "vlanTrunk", bothSince: "1.8.0" },
  "cnv-bridge": { key: "vlan", least: 0, trunk: "vlanTrunk", bothSince: "1.8.0" },
  "ovs": { key: "vlan", least: 0, trunk: "trunk" },
  "sriov": { key: "vlan", least: 0 },
  "vlan": { key: "vlanId", least: 1 },
};

const vlanMax = 4094;

export function vlanRule(read: ReadNetwork): readonly LintFinding[] {
  return read.plugins.flatMap(({ type, node }) => {
    const keys = Object.hasOwn(vlanKeys, type) ? vlanKeys[type] : undefined;
    if (keys === undefined) return [];
    const trunk = keys.trunk === undefined ? [] : elementsOf(memberOf(node, keys.trunk)?.value);
    return [
      ...idFindings(read, node, keys),
      ...trunk.flatMap((item) => (item.kind === "object" ? trunkFindings(read, item) : [])),
      ...clash(read, node, { key: keys.key, trunk }),
      ...(trunk.length === 0 ? [] : togetherFindings(read, node, keys)),
    ];
  });
}

function idFindings(
  { network }: ReadNetwork,
  node: ObjectNode,
  { key, least }: { readonly key: string; readonly least: number },
): readonly LintFinding[] {
  const id = integerMember(node, key);
  const field = memberOf(node, key);
  if (id === undefined || field === undefined || (id >= least && id <= vlanMax)) return [];
  const message = `"${field.key}" must be from ${least} to ${vlanMax}: it is ${id}`;
  return [lintFinding("LVN0401", network, { message, spot: { on: "config", span: field.value } })];
}

function trunkFindings(read: ReadNetwork, item: ObjectNode): readonly LintFinding[] {
  const out = ["id", "minID", "maxID"].flatMap((key) => idFindings(read, item, { key, least: 1 }));
  if (out.length > 0) return out;
  const [min, max] = [integerMember(item, "minID"), integerMember(item, "maxID")];
  const wrong = (message: string): readonly LintFinding[] => [
    lintFinding("LVN0401", read.network, { message, spot: { on: "config", span: item } }),
  ];
  if ((min === undefined) !== (max === undefined)) return wrong('a trunk has "minID" and "maxID" together');
  return min !== undefined && max !== undefined && min > max ? wrong(`"minID" ${min} is above "maxID" ${max}`) : [];
}

function clash(
  { network }: ReadNetwork,
  node: ObjectNode,
  { key, trunk }: { readonly key: string; readonly trunk: readonly JsonNode[] },
): readonly LintFinding[] {
  const id = integerMember(node, key) ?? 0;
  const both = id === 0 ? undefined : trunk.find((item) => isIn(item, id));
  if (both === undefined) return [];
  const message = `VLAN ${id} is the port's own, untagged, and in its trunk, tagged`;
  return [lintFinding("LVN0402", network, { message, spot: { on: "config", span: both } })];
}

/** Which version a node has, nobody knows here. */
function togetherFindings(
  { network }: ReadNetwork,
  node: ObjectNode,
  { key, trunk = "", bothSince }: VlanKeys,
): readonly LintFinding[] {
  const own = memberOf(node, key);
  if (bothSince === undefined || own === undefined || (integerMember(node, key) ?? 0) <= 0) return [];
  const message = `bridge programs before ${bothSince} refuse "${own.key}" and "${trunk}" together`;
  return [lintFinding("LVN0403", network, { message, spot: { on: "config", span: own.keySpan } })];
}

function isIn(item: JsonNode, id: number): boolean {
  const [min, max] = [integerMember(item, "minID"), integerMember(item, "maxID")];
  return integerMember(item, "id") === id || (min !== undefined && max !== undefined && min <= id && id <= max);
}
