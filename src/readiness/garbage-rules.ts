import { passed, warned, type Check } from "./check.ts";

/** The findings of the last garbage collection round. */
interface GarbageFacts {
  /** Networks that running pods asked for but lack, as `namespace/pod: network`. */
  readonly missing: readonly string[];
  /** Addresses of host-local that belong to no known container. */
  readonly orphans: number;
}

/** Name at most three networks in one sentence. */
const namedMax = 3;

export function missingNetworksCheck({ missing }: Pick<GarbageFacts, "missing">): Check {
  if (missing.length === 0) return passed("missing-networks", "no running pod lacks a network it asked for");
  const more = missing.length > namedMax ? ", …" : "";
  return warned(
    "missing-networks",
    `${missing.length} ${missing.length === 1 ? "network that a running pod asked for is" : "networks that running pods asked for are"} missing: ${missing.slice(0, namedMax).join(", ")}${more}`,
    "levee gc lists them with the reason; restart a pod to attach its networks",
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
