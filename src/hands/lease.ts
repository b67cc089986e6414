import { isIp } from "../cni/ip.ts";
import type { FolderEntry } from "../wire/folder-page.ts";

/** An address that host-local holds, as a file that names the container and the interface. */
export interface Lease {
  /** host-local's folder; below it one folder per network. */
  readonly dataDir: string;
  readonly network: string;
  readonly address: string;
  /** Empty when the file holds no valid ID. */
  readonly containerId: string;
  /** The file holds nothing at all, or zeros, because its content was lost with the power. */
  readonly isBlank: boolean;
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
  if (entry.kind !== "file" || entry.content === undefined || !isIp(entry.name)) return undefined;
  const text = entry.content.toString("utf8");
  const [id = "", ifname = ""] = text.split("\n", 2).map((line) => line.trim());
  return {
    dataDir: place.dataDir,
    network: place.network,
    address: entry.name,
    containerId: containerPattern.test(id) ? id : "",
    isBlank: /^[\s\0]*$/u.test(text),
    ifname,
    changedWallMs: entry.changedWallMs,
  };
}
