import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** Writes one of the kernel's own files, without rename: the kernel takes each write as a whole. */
export function writeKernelFile(path: string, value: string): void {
  const file = openSync(path, "w");
  try {
    writeSync(file, value);
  } finally {
    closeSync(file);
  }
}

/** Empty if the file is gone, or if this kernel does not have it. */
export function readKernelFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
