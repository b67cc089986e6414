import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { run } from "../../test/e2e/run.ts";

/** The usual value. With the megabytes of some virtual disks any program thrashes in a small cgroup. */
export const readAheadKb = 128;
const imageSize = "12G";

/** Puts a file system of its own on a folder, on a loop device with the usual read-ahead. It goes when it is unmounted. */
export function mountDisk(folder: string): void {
  const image = `${folder}.disk`;
  run("truncate", "--size", imageSize, image);
  try {
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", image);
    run("mount", "-o", "loop", image, folder);
  } finally {
    // The loop device holds it; nothing is left behind when it is let go.
    rmSync(image, { force: true });
  }
  const knob = readAheadFile(folder);
  writeFileSync(knob, String(readAheadKb));
}

/** What is set where a folder lies, to be shown beside the figures. */
export function readAheadOf(folder: string): number {
  return Number(readFileSync(readAheadFile(folder), "utf8"));
}

/** On a fresh node a container's program text is charged to the container itself. */
export function dropCaches(): void {
  run("sync");
  writeFileSync("/proc/sys/vm/drop_caches", "3");
}

function readAheadFile(folder: string): string {
  const device = run("findmnt", "--noheadings", "--output", "SOURCE", "--target", folder).trim();
  return `/sys/block/${device.slice(device.lastIndexOf("/") + 1)}/queue/read_ahead_kb`;
}
