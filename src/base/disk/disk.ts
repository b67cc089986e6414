import { nodeDisk } from "./node-disk.ts";
import type { Disk } from "./disk-door.ts";

/** The disk that this process uses. It is one for all, because a process has one file system. */
export let disk: Disk = nodeDisk;

/** Only the simulator calls this. Returns a function that puts the real disk back. */
export function useDisk(other: Disk): () => void {
  disk = other;
  return () => {
    disk = nodeDisk;
  };
}
