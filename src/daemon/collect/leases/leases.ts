import type { Lease } from "../../../hands/lease.ts";
import type { GcAction, GcFinding } from "../../../wire/node-view.ts";
import type { LeaseCountView } from "../../../wire/node-holds.ts";

export function leaseKey(lease: Lease): string {
  return `${lease.dataDir}/${lease.network}/${lease.address}/${lease.containerId}`;
}

/**
 * Containers that are known on this node. libcni names its files `<network>-<container>-<interface>`, and each part may
 * contain a dash, so a container is searched for in a name, not parsed from it.
 */
export class KnownContainers {
  readonly #ids: ReadonlySet<string>;
  /** Made for the first container that is searched for: on a node in order every address has a known ID. */
  #parts: ReadonlySet<string> | undefined;
  readonly #names: readonly string[];

  constructor(ids: Iterable<string>, resultNames: readonly string[]) {
    this.#ids = new Set(ids);
    this.#names = resultNames;
  }

  has(containerId: string): boolean {
    return this.#ids.has(containerId) || this.hasResult(containerId);
  }

  /** Whether libcni has a file of this container. */
  hasResult(containerId: string): boolean {
    this.#parts ??= partsOf(this.#names);
    if (this.#parts.has(containerId)) return true;
    return containerId.includes("-") && this.#names.some((name) => name.includes(`-${containerId}-`));
  }
}

function partsOf(names: readonly string[]): ReadonlySet<string> {
  const parts = new Set<string>();
  for (const name of names) for (const part of name.split("-")) parts.add(part);
  return parts;
}

/** A person reads the first rows, and the answer is asked for every few seconds. */
const countsMax = 200;

/** How many addresses each network holds; those with most first. */
export function leaseCounts(leases: readonly Lease[]): readonly LeaseCountView[] {
  const counts = [...Map.groupBy(leases, ({ network }) => network)].map(([network, own]) => {
    const v6 = own.filter(({ address }) => address.includes(":")).length;
    return { network, v4: own.length - v6, v6 };
  });
  return counts.toSorted((left, right) => right.v4 + right.v6 - left.v4 - left.v6).slice(0, countsMax);
}

/** Leases of unknown containers. The caller decides whether they are old enough to count. */
export function orphansAmong(leases: readonly Lease[], known: KnownContainers): readonly Lease[] {
  return leases.filter((lease) => lease.containerId === "" || !known.has(lease.containerId));
}

export function leaseFinding(lease: Lease, why: string, action: GcAction, detail = ""): GcFinding {
  const { containerId, network, ifname, address } = lease;
  return { what: "lease", namespace: "", pod: "", containerId, network, ifname, address, why, action, detail };
}
