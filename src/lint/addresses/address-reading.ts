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
  readonly span: JsonSpan;
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
