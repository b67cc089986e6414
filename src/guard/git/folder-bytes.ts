import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** What the files below a folder take; 0 for one that is not there. What goes away meanwhile is not counted. */
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
