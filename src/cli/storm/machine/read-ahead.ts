import { statSync } from "node:fs";
import { dirname } from "node:path";
import { readKernelFile } from "./kernel-file.ts";

/** A disk's read-ahead. It decides how much program text is charged to a small cgroup. */
interface ReadAhead {
  /** Undefined if the kernel has no value, as for a memory file system. */
  readonly kib: number | undefined;
  /** The kernel's file with it. */
  readonly path: string;
}

/** The kernel's default for a disk. */
export const usualKib = 128;
/** From about this value on, a daemon in a small cgroup reads its own text again and again. */
const harmfulKib = 1024;

/** The read-ahead of the disk of `folder`, which need not exist yet. */
export function readAheadOf(folder: string): ReadAhead {
  const device = deviceOf(folder);
  // As in <sys/sysmacros.h>; device numbers on Linux have 12 bits for the major part and 20 for the minor.
  const major = (device >>> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  const path = `/sys/class/bdi/${major}:${minor}/read_ahead_kb`;
  const text = readKernelFile(path).trim();
  return { kib: text === "" ? undefined : Number(text), path };
}

/** A warning if the node's disk reads far ahead. `ownKib` is the read-ahead of the storm's own disk, if it has one. */
export function readAheadWarning({ kib, path }: ReadAhead, ownKib: number | undefined): string | undefined {
  if (kib === undefined || kib <= harmfulKib) return undefined;
  const trouble = `this node's disk reads ${kib} KiB ahead (${usualKib} is usual), which pushes a program's own text out of a small cgroup`;
  return ownKib === undefined
    ? `${trouble}, and the storm runs on it: without --read-ahead node it gets its own disk`
    : `${trouble}, so the storm uses its own disk that reads ${ownKib} KiB ahead; for real pods change it on the node: echo ${usualKib} > ${path}`;
}

function deviceOf(folder: string): number {
  try {
    return statSync(folder).dev;
  } catch {
    return folder === "/" ? 0 : deviceOf(dirname(folder));
  }
}
