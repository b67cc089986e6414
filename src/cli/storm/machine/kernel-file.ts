import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** One of the kernel's own files. No rename and no temporary file: the kernel reads each write whole. */
export function writeKernelFile(path: string, value: string): void {
  const file = openSync(path, "w");
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}

/** Empty when it is gone, or this kernel has no such file. */
export function readKernelFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
