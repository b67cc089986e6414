import type { SimLease, SimNetns } from "./sim-kernel.ts";

const netnsDevice = 4n;

/** What a namespace is never changes, and the daemon looks at all of them every few minutes, so the bytes are kept. */
const foundOf = new WeakMap<SimNetns, Uint8Array>();

export function foundNetns(netns: SimNetns): Uint8Array {
  const known = foundOf.get(netns) ?? bytesOfNetns(netns);
  foundOf.set(netns, known);
  return known;
}

function bytesOfNetns({ inode, cookie }: SimNetns): Uint8Array {
  const bytes = Buffer.alloc(26);
  bytes.writeUInt8(1, 0);
  bytes.writeBigUInt64LE(netnsDevice, 1);
  bytes.writeBigUInt64LE(inode, 9);
  bytes.writeUInt8(1, 17);
  bytes.writeBigUInt64LE(cookie, 18);
  return bytes;
}

/** An ordinary file. */
export const foundFile = Buffer.concat([Buffer.from([1]), Buffer.alloc(25)]);

/** Without content for a folder. */
export function entryOf(name: string, wallMs: number, content?: string): Uint8Array {
  const nameBytes = Buffer.byteLength(name);
  const bytes = Buffer.allocUnsafe(10 + nameBytes + Buffer.byteLength(content ?? ""));
  const wall = Math.floor(wallMs);
  bytes[0] = content === undefined ? 3 : 1;
  bytes.writeUInt32LE(wall % 2 ** 32, 1);
  bytes.writeUInt32LE(Math.floor(wall / 2 ** 32), 5);
  bytes[9] = nameBytes;
  bytes.write(name, 10);
  bytes.write(content ?? "", 10 + nameBytes);
  return bytes;
}

/** A lease is never changed, and the daemon lists all of them every few minutes, so the bytes are kept. */
const leaseEntries = new WeakMap<SimLease, Uint8Array>();

export function leaseEntry(address: string, lease: SimLease | undefined): Uint8Array {
  if (lease === undefined) return entryOf(address, 0, "");
  const { containerId, ifname, sinceWallMs } = lease;
  const known = leaseEntries.get(lease) ?? entryOf(address, sinceWallMs, `${containerId}\r\n${ifname}`);
  leaseEntries.set(lease, known);
  return known;
}
