import { statSync } from "node:fs";
import { dirname } from "node:path";
import { readKernelFile } from "./kernel-file.ts";

/** A disk's read-ahead, which decides how much program text is charged to a small cgroup. */
export interface ReadAhead {
  /** Undefined when the kernel does not tell, as for a memory file system. */
  readonly kib: number | undefined;
  /** The kernel's file with it. */
  readonly path: string;
}

/** 128 is usual; from about here on a daemon in a small cgroup reads its own text again and again. */
const kibMax = 1024;

/** Of the disk that `folder` is on, or will be. */
export function readAheadOf(folder: string): ReadAhead {
  const device = deviceOf(folder);
  // As in <sys/sysmacros.h>; device numbers on Linux have 12 bits for the major part and 20 for the minor.
  const major = (device >>> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  const path = `/sys/class/bdi/${major}:${minor}/read_ahead_kb`;
  const text = readKernelFile(path).trim();
  return { kib: text === "" ? undefined : Number(text), path };
}

/** Undefined when it is fine, or not known. */
export function readAheadWarning({ kib, path }: ReadAhead): string | undefined {
  if (kib === undefined || kib <= kibMax) return undefined;
  return `the disk reads ${kib} KiB ahead (${path}; 128 is usual), and in a small cgroup that pushes out the program's own text: ${readAheadRemedy}`;
}

export const readAheadRemedy = "--read-ahead 128 sets it for as long as the storm lasts, --work-dir names another disk";

function deviceOf(folder: string): number {
  try {
    return statSync(folder).dev;
  } catch {
    return folder === "/" ? 0 : deviceOf(dirname(folder));
  }
}
