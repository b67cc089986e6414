import type { JsonSpan } from "../json-node.ts";
import type { AddressRange } from "./address-range.ts";

/** Addresses that one network gives to pods, from one range of its configuration. */
export interface AddressPool {
  readonly by: "host-local" | "whereabouts" | "static";
  /** What it gives, without gateway and excluded addresses; the parts do not overlap. */
  readonly ranges: readonly AddressRange[];
  /** The subnet that pods reach directly over the network. */
  readonly subnet: AddressRange;
  /** Pools with one key know of each other's leases, on a node or in the cluster; an empty one knows of no other. */
  readonly leaseKey: string;
  /** A pod gets one address of each set; pools with the same number are alternatives. */
  readonly set: number;
  /** Where whereabouts keeps its leases. Absent for other plugins. */
  readonly leases?: WhereaboutsLeases;
  readonly span: JsonSpan;
}

/** Which IPPools of whereabouts have the leases of a range. */
export interface WhereaboutsLeases {
  /** `network_name`; empty for the unnamed network. */
  readonly networkName: string;
  /** Every IPPool of the network name counts, not only the range's own: an address is given once. */
  readonly isShared: boolean;
  /** Each node has an IPPool of its own, for a slice of the range. */
  readonly isPerNode: boolean;
}

/** A value that the address plugin refuses, or with which pods cannot work. */
export interface AddressProblem {
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly remedy?: string;
  readonly span: JsonSpan;
}

export interface AddressReading {
  readonly pools: readonly AddressPool[];
  readonly problems: readonly AddressProblem[];
}
