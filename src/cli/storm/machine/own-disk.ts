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

/** A sparse file, so only written blocks take room. It fits the program, the journal and some files for each pod. */
const imageBytes = 1024 ** 3;
/** Room for 262,144 files, because each pod has several small ones. */
const bytesPerFile = 4096;

type Tools = Pick<Shell, "clock" | "env">;
type DiskPaths = Pick<StormPaths, "root" | "image">;

/**
 * Makes a file system on a loop device and mounts it on `root`, so that the storm can choose its read-ahead without a change
 * to the machine's disk. The device uses direct I/O: otherwise pages of the image, with the read-ahead of the disk below,
 * would be charged to the daemon.
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
  // Now the kernel removes the device together with the mount.
  await run("losetup", "--detach", device);
  await chmod(root, 0o700);
  writeKernelFile(readAheadOf(root).path, `${readAheadKib}`);
}

/** Returns whether there was one. Also works for a storm that was killed before its disk was mounted. */
export async function removeOwnDisk(tools: Tools, { root, image }: DiskPaths): Promise<boolean> {
  if (!existsSync(image)) return false;
  const run = toolsOf(tools);
  // --lazy, because another process (an indexer, a shell) may be using the disk.
  if (isMounted(root)) await run("umount", "--lazy", root);
  const devices = await run("losetup", "--noheadings", "--output", "NAME", "--associated", image);
  for (const device of devices.split("\n").filter((line) => line !== "")) {
    // The kernel may have removed the device already, after the umount.
    await run("losetup", "--detach", device.trim()).catch(() => undefined);
  }
  await rm(image, { force: true });
  return true;
}

/** These tools are in sbin folders, which root's PATH may lack after `su`. */
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
  throw new CommandFailure("disk-unusable", `Cannot make the storm's own disk: ${reason}`, {
    remedy: isMissing
      ? "apt-get install e2fsprogs mount, or --read-ahead node to use this node's disk"
      : "--read-ahead node uses this node's disk",
  });
}
