import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The size of all files below a folder; 0 if it does not exist. Files that vanish during the walk do not count. */
export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? folderBytes(path) : sizeOf(path);
  }
  return bytes;
}

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    return [];
  }
}

function readEntries(folder: string): { readonly name: string; isDirectory(): boolean }[] {
  return readdirSync(folder, { withFileTypes: true });
}

function sizeOf(path: string): number {
  try {
    return lstatSync(path).size;
  } catch {
    return 0;
  }
}
