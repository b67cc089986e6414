import { addressCount } from "../addresses/address-range.ts";
import type { AddressPool } from "../addresses/address-reading.ts";
import { readAddresses } from "../addresses/read-addresses.ts";
import type { JsonSpan } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintNode } from "../lint-objects.ts";
import type { ReadNetwork } from "../read-network.ts";

interface PoolUse {
  /** How many pods ask for the network, as far as it is known. */
  readonly asking: number;
  /** None if the cluster is not known. */
  readonly nodes: readonly LintNode[];
}

/** More pods than addresses. Other address plugins have no range, and static gives every pod the same address. */
export function poolSizeRule(read: ReadNetwork, use: PoolUse): readonly LintFinding[] {
  const { pools } = readAddresses(read);
  return [
    ...sizesBySet(pools.filter(isOfCluster)).flatMap((size) => clusterFindings(read, size, use)),
    ...sizesBySet(pools.filter(({ by }) => by === "host-local")).flatMap((size) => nodeFindings(read, size, use)),
  ];
}

/** With slices, whereabouts divides the range among the nodes, and nobody knows how many pods come to which. */
function isOfCluster({ by, leases }: AddressPool): boolean {
  return by === "whereabouts" && leases?.isPerNode !== true;
}

interface PoolSize {
  readonly size: bigint;
  readonly span: JsonSpan;
}

/** A pod gets an address of each set, from one of its ranges. */
function sizesBySet(pools: readonly AddressPool[]): readonly PoolSize[] {
  return [...Map.groupBy(pools, ({ set }) => set).values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ size: addressCount(own.flatMap(({ ranges }) => ranges)), span: first.span }];
  });
}

function clusterFindings(read: ReadNetwork, { size, span }: PoolSize, { asking }: PoolUse): readonly LintFinding[] {
  if (BigInt(asking) <= size) return [];
  const message = `${asking} pods ask for it, and the range has ${size} addresses`;
  return [lintFinding("LVN0505", read.network, { message, spot: { on: "config", span } })];
}

/** host-local has the whole range on each node anew. */
function nodeFindings(read: ReadNetwork, { size, span }: PoolSize, { asking, nodes }: PoolUse): readonly LintFinding[] {
  const spot = { on: "config", span } as const;
  if (nodes.length > 0 && BigInt(asking) > size * BigInt(nodes.length)) {
    const message = `${asking} pods ask for it, and the range has ${size} addresses on each of ${nodes.length} nodes`;
    return [lintFinding("LVN0505", read.network, { message, spot })];
  }
  const [largest] = nodes.toSorted((one, other) => (other.podsMax ?? 0) - (one.podsMax ?? 0));
  if (largest?.podsMax === undefined || BigInt(largest.podsMax) <= size) return [];
  // Most pods of a node may well be on other networks.
  const message = `node ${largest.name} takes ${largest.podsMax} pods, and the range has ${size} addresses on each node`;
  return [lintFinding("LVN0505", read.network, { message, severity: "note", spot })];
}
