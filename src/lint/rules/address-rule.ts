import {
  rangeHas,
  addressBlock,
  addressNumber,
  rangesOverlap,
  rangeText,
  type AddressRange,
} from "../addresses/address-range.ts";
import type { AddressPool } from "../addresses/address-reading.ts";
import { poolOverlaps } from "../addresses/overlap.ts";
import { readAddresses } from "../addresses/read-addresses.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { LintCluster } from "../lint-objects.ts";
import type { ReadNetwork } from "../read-network.ts";
import { networkSegment, type NetworkSegment } from "../segment.ts";

/** Subnets, ranges and gateways of one network fit together. */
export function addressRule(read: ReadNetwork): readonly LintFinding[] {
  return readAddresses(read).problems.map(({ message, remedy, severity, span }) =>
    lintFinding("LVN0501", read.network, {
      message,
      severity,
      spot: { on: "config", span },
      ...(remedy === undefined ? {} : { remedy }),
    }),
  );
}

/** host-local keeps its leases on each node, and knows nothing of the others. */
export function hostLocalRule(read: ReadNetwork): readonly LintFinding[] {
  const segment = networkSegment(read);
  const pool = readAddresses(read).pools.find(({ by }) => by === "host-local");
  if (segment === undefined || segment.isShared === "no" || pool === undefined) return [];
  const spot = { on: "config", span: pool.span } as const;
  if (segment.isShared === "yes")
    return [
      lintFinding("LVN0502", read.network, {
        message: `host-local keeps its leases per node, and all nodes are on ${segment.text}: two pods can get one address`,
        remedy: "use whereabouts or DHCP, or a range of its own for each node",
        spot,
      }),
    ];
  return [
    lintFinding("LVN0502", read.network, {
      message: `host-local keeps its leases per node; if ${segment.text} has an uplink, two pods can get one address`,
      severity: "note",
      spot,
    }),
  ];
}

/** Ranges of networks on one segment. */
export function overlapRule(networks: readonly ReadNetwork[]): readonly LintFinding[] {
  const known = networks.flatMap((read) => {
    const segment = networkSegment(read);
    const { pools } = readAddresses(read);
    return segment === undefined || pools.length === 0
      ? []
      : [{ network: { read, segment, pools }, segment: segment.key, pools }];
  });
  return poolOverlaps(known).map(({ network, other, shared }) =>
    lintFinding("LVN0503", network.read.network, {
      message: overlapText(shared, network.segment, other.read.network.title),
      spot: { on: "config", span: spanOf(network.pools, shared) },
    }),
  );
}

export function overlapText(shared: AddressRange, segment: Pick<NetworkSegment, "text">, other: string): string {
  return `${rangeText(shared)} on ${segment.text} is also given by ${other}`;
}

function spanOf(pools: readonly AddressPool[], shared: AddressPool["subnet"]): AddressPool["span"] {
  const pool = pools.find(({ ranges }) => ranges.some((range) => rangesOverlap(range, shared)));
  return pool?.span ?? { start: 0, end: 1 };
}

/** Ranges against the addresses of pods, services and nodes. */
export function clusterRangeRule(read: ReadNetwork, cluster: LintCluster): readonly LintFinding[] {
  return readAddresses(read).pools.flatMap((pool) => {
    const spot = { on: "config", span: pool.span } as const;
    const found = (message: string): LintFinding => lintFinding("LVN0504", read.network, { message, spot });
    return [
      ...overlapping(pool, cluster.podCidrs).map((cidr) =>
        found(`it overlaps ${cidr}, from which pods get eth0's address`),
      ),
      ...overlapping(pool, cluster.serviceCidrs).map((cidr) => found(`it overlaps ${cidr}, the addresses of services`)),
      ...nodesIn(pool, cluster).map((node) => found(`it gives pods the address of ${node}`)),
    ].slice(0, namedMax);
  });
}

/** A range over a whole pod network overlaps each node's part; three say enough. */
const namedMax = 3;

function overlapping(pool: AddressPool, cidrs: readonly string[]): readonly string[] {
  return cidrs.filter((cidr) => {
    const block = addressBlock(cidr);
    return block !== undefined && rangesOverlap(block.range, pool.subnet);
  });
}

function nodesIn(pool: AddressPool, { nodes }: LintCluster): readonly string[] {
  return nodes.flatMap(({ name, addresses }) => {
    const own = addresses.find((text) => {
      const address = addressNumber(text);
      return address !== undefined && pool.ranges.some((range) => rangeHas(range, address));
    });
    return own === undefined ? [] : [`node ${name}, ${own}`];
  });
}
