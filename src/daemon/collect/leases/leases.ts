import { parseIp } from "../../../cni/ip.ts";
import type { FolderEntry } from "../../../wire/folder-page.ts";

/** An address that host-local holds, as a file that names the container and the interface. */
export interface Lease {
  /** host-local's folder; below it one folder per network. */
  readonly dataDir: string;
  readonly network: string;
  readonly address: string;
  /** Empty when the file holds no valid ID, because host-local was killed while it wrote. */
  readonly containerId: string;
  /** Empty in files of old versions. */
  readonly ifname: string;
  readonly changedWallMs: number;
}

const containerPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,253}$/u;

/** Reads a file as a lease; undefined for the lock, the last address given out, and any other file. */
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
 * Containers that are known on this node. libcni names its files `<network>-<container>-<interface>`, and each part may
 * contain a dash, so a container is searched for in a name, not parsed from it.
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

  /** Whether libcni has a file of this container. */
  hasResult(containerId: string): boolean {
    if (this.#parts.has(containerId)) return true;
    return containerId.includes("-") && this.#names.some((name) => name.includes(`-${containerId}-`));
  }
}

/** Leases of unknown containers. The caller decides whether they are old enough to count. */
export function orphansAmong(leases: readonly Lease[], known: KnownContainers): readonly Lease[] {
  return leases.filter((lease) => lease.containerId === "" || !known.has(lease.containerId));
}
