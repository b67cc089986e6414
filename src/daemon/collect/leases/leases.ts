import { parseIp } from "../../../cni/ip.ts";
import type { FolderEntry } from "../../../wire/folder-page.ts";

/** An address that host-local holds: a file named after it, with the container and the interface in it. */
export interface Lease {
  /** host-local's folder; below it one folder per network. */
  readonly dataDir: string;
  readonly network: string;
  readonly address: string;
  /** Empty when the file says nothing that could be one: host-local was killed while it wrote. */
  readonly containerId: string;
  /** Empty in files of old versions. */
  readonly ifname: string;
  readonly changedWallMs: number;
}

const containerPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,253}$/u;

/** A file of a network's folder as a lease; undefined for the lock, the last address given out, and anything else. */
export function leaseOf(
  entry: FolderEntry,
  place: { readonly dataDir: string; readonly network: string },
): Lease | undefined {
  if (entry.kind !== "file" || entry.content === undefined || parseIp(entry.name) === undefined) return undefined;
  const [id = "", ifname = ""] = Buffer.from(entry.content)
    .toString("utf8")
    .split("\n")
    .map((line) => line.trim());
  return {
    ...place,
    address: entry.name,
    containerId: containerPattern.test(id) ? id : "",
    ifname,
    changedWallMs: entry.changedWallMs,
  };
}

export function leaseKey(lease: Lease): string {
  return `${lease.dataDir}/${lease.network}/${lease.address}/${lease.containerId}`;
}

/**
 * Containers that somebody on this node knows. libcni names its files `<network>-<container>-<interface>`, and each
 * part may hold a dash itself, so a container is looked for in a name, not read out of it.
 */
export class KnownContainers {
  readonly #ids: ReadonlySet<string>;
  readonly #parts: ReadonlySet<string>;
  readonly #names: readonly string[];

  constructor(ids: Iterable<string>, resultNames: readonly string[]) {
    this.#ids = new Set(ids);
    this.#parts = new Set(resultNames.flatMap((name) => name.split("-")));
    this.#names = resultNames;
  }

  has(containerId: string): boolean {
    return this.#ids.has(containerId) || this.hasResult(containerId);
  }

  /** Whether one of libcni's own files is of this container. */
  hasResult(containerId: string): boolean {
    if (this.#parts.has(containerId)) return true;
    return containerId.includes("-") && this.#names.some((name) => name.includes(`-${containerId}-`));
  }
}

/** Leases of containers that nobody knows. Whether they are old enough to be told is decided by the caller. */
export function orphansAmong(leases: readonly Lease[], known: KnownContainers): readonly Lease[] {
  return leases.filter((lease) => lease.containerId === "" || !known.has(lease.containerId));
}
