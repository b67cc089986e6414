import { existsSync, statSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { writeFileAtomically } from "../../../base/atomic-file.ts";
import { runTool } from "../../context.ts";
import { CommandFailure } from "../../failure.ts";
import { isSuccess, type ProgramEnd } from "../../run-program.ts";
import type { Shell } from "../../shell.ts";
import { writeKernelFile } from "./kernel-file.ts";
import { readAheadOf } from "./read-ahead.ts";
import type { StormPaths } from "../site.ts";

/** Sparse: only what is written takes room. Program, journal and a few files for each of the most pods fit in. */
const imageBytes = 1024 ** 3;
/** A file of each kind for each pod, many of them small: 262,144 files. */
const bytesPerFile = 4096;

type Tools = Pick<Shell, "clock" | "env">;
type DiskPaths = Pick<StormPaths, "root" | "image">;

/**
 * A file system of the storm's own on a loop device, mounted where the storm lives, so that its read-ahead can be chosen
 * without touching the machine's disk. The device reads its image past the page cache (direct I/O): otherwise pages of
 * the image, read ahead as the disk below likes, would be charged to the daemon.
 */
export async function makeOwnDisk(tools: Tools, { root, image }: DiskPaths, readAheadKib: number): Promise<void> {
  const run = toolsOf(tools);
  await mkdir(root, { mode: 0o700 });
  await writeFileAtomically(image, "", { mode: 0o600, sync: false });
  await run("truncate", "--size", `${imageBytes}`, image);
  const lazily = "lazy_itable_init=1,lazy_journal_init=1";
  await run("mkfs.ext4", "-q", "-F", "-i", `${bytesPerFile}`, "-E", lazily, image);
  const device = await run("losetup", "--find", "--show", "--direct-io=on", image);
  await run("mount", device, root);
  // From now on the device goes when the mount goes.
  await run("losetup", "--detach", device);
  await chmod(root, 0o700);
  writeKernelFile(readAheadOf(root).path, `${readAheadKib}`);
}

/** Whether there was one. Also of a storm that was killed before its disk was mounted. */
export async function removeOwnDisk(tools: Tools, { root, image }: DiskPaths): Promise<boolean> {
  if (!existsSync(image)) return false;
  const run = toolsOf(tools);
  // Lazily, as whoever looks at a disk that appears (an indexer, a shell of somebody) must not keep it here.
  if (isMounted(root)) await run("umount", "--lazy", root);
  const devices = await run("losetup", "--noheadings", "--output", "NAME", "--associated", image);
  for (const device of devices.split("\n").filter((line) => line !== "")) {
    // One that the mount has just let go may be gone before it is told to.
    await run("losetup", "--detach", device.trim()).catch(() => undefined);
  }
  await rm(image, { force: true });
  return true;
}

/** They are root's tools, in folders that the PATH of root need not have after a mere `su`. */
function toolsOf({ clock, env }: Tools): (file: string, ...args: readonly string[]) => Promise<string> {
  const path = [env["PATH"] ?? "", "/usr/sbin", "/sbin"].filter((folder) => folder !== "").join(":");
  return async (file, ...args) => output(file, await runTool({ clock, env: { ...env, PATH: path } }, file, args));
}

function isMounted(root: string): boolean {
  return existsSync(root) && statSync(root).dev !== statSync(`${root}/..`).dev;
}

function output(file: string, end: ProgramEnd): string {
  if (isSuccess(end)) return end.stdout.trim();
  const isMissing = end.startError === "ENOENT";
  const reason = isMissing
    ? `${file} is not installed`
    : `${file}: ${end.stderr.trim() || (end.startError ?? "failed")}`;
  throw new CommandFailure("disk-unusable", `Cannot make a disk of the storm's own: ${reason}`, {
    remedy: isMissing
      ? "apt-get install e2fsprogs mount, or --read-ahead node to take this node's disk as it is"
      : "--read-ahead node takes this node's disk as it is",
  });
}
