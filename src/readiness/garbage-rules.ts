import { passed, warned, type Check } from "./check.ts";

/** What the last look for garbage saw. */
interface GarbageFacts {
  /** Networks that running pods asked for and do not have, as `namespace/pod: network`. */
  readonly missing: readonly string[];
  /** Addresses of host-local whose container nobody knows. */
  readonly orphans: number;
}

/** A sentence is no list. */
const namedMax = 3;

export function missingNetworksCheck({ missing }: Pick<GarbageFacts, "missing">): Check {
  if (missing.length === 0) return passed("missing-networks", "no running pod lacks a network it asked for");
  const more = missing.length > namedMax ? ", …" : "";
  return warned(
    "missing-networks",
    `${missing.length} ${missing.length === 1 ? "network that a running pod asked for is" : "networks that running pods asked for are"} missing: ${missing.slice(0, namedMax).join(", ")}${more}`,
    "levee gc says which and why; a pod gets its networks when it is started anew",
  );
}

export function orphanLeasesCheck({ orphans }: Pick<GarbageFacts, "orphans">): Check {
  if (orphans === 0) return passed("orphan-leases", "no address of host-local is without a sandbox");
  return warned(
    "orphan-leases",
    `${orphans} ${orphans === 1 ? "address of host-local has" : "addresses of host-local have"} no sandbox`,
    "levee gc shows them, levee gc --fix releases them",
  );
}
