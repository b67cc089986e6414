import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../../e2e/run.ts";
import { isBuilt, peerFolder, type Peer } from "../../peers/peer.ts";
import { makeInitramfs } from "./initramfs.ts";
import { diskBytes, files, leftOut, packages, recipeHash, releases, type DebianVersion } from "./recipe.ts";
import { writeFiles } from "./write-files.ts";

/** The parts of an image in the cache. No run writes to them: its disk is an overlay. */
export const imageParts = { disk: "disk.raw", kernel: "vmlinuz", initramfs: "initramfs.gz", key: "key" } as const;

/** The image when it has been made already, or undefined. */
export function madeVmImage(debian: DebianVersion): string | undefined {
  const folder = peerFolder("vm", recipeHash(debian));
  return isBuilt(folder, Object.values(imageParts)) ? folder : undefined;
}

/** The virtual machine's disk, kernel and initramfs, made once per recipe from Debian's packages. */
export function vmImage(debian: DebianVersion): Peer {
  const made = madeVmImage(debian);
  if (made !== undefined) return { folder: made };
  const folder = peerFolder("vm", recipeHash(debian));
  // An image that is cut off leaves nothing that counts as made.
  const part = `${folder}.${process.pid}`;
  mkdirSync(dirname(part), { recursive: true });
  rmSync(part, { recursive: true, force: true });
  mkdirSync(part);
  try {
    makeImage(part, debian);
    rmSync(folder, { recursive: true, force: true });
    renameSync(part, folder);
    return { folder };
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    return { missing: `the image of the virtual machine could not be made: ${why}` };
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

function makeImage(folder: string, debian: DebianVersion): void {
  const rootfs = join(folder, "rootfs");
  say(`Making a Debian ${debian} machine of its packages (once, about two minutes)…`);
  const excludes = leftOut.map((path) => `--dpkgopt=path-exclude=${path}`);
  const include = `--include=${packages.join(",")}`;
  run(
    "mmdebstrap",
    "--quiet",
    "--mode=root",
    "--variant=minbase",
    "--format=directory",
    ...excludes,
    include,
    releases[debian],
    rootfs,
  );
  const [kernel] = readdirSync(join(rootfs, "lib/modules"));
  if (kernel === undefined) throw new Error("Debian's packages contain no kernel modules");
  copyFileSync(join(rootfs, "boot", `vmlinuz-${kernel}`), join(folder, imageParts.kernel));
  run("chroot", rootfs, "depmod", kernel);
  makeInitramfs(join(folder, imageParts.initramfs), rootfs, kernel);
  writeFiles(rootfs, files);
  addKey(folder, rootfs);
  cpSync(join(rootfs, "usr/lib/cni"), join(rootfs, "opt/cni/bin"), { recursive: true });
  say(`Writing its disk, with Linux ${kernel}…`);
  const disk = join(folder, imageParts.disk);
  run("truncate", "-s", String(diskBytes), disk);
  run("mke2fs", "-q", "-F", "-t", "ext4", "-L", "root", "-d", rootfs, disk);
  rmSync(rootfs, { recursive: true });
}

/** The key with which the tests log in; it is made here and goes nowhere. */
function addKey(folder: string, rootfs: string): void {
  const key = join(folder, imageParts.key);
  run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "levee-vm", "-f", key);
  const home = join(rootfs, "root", ".ssh");
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFiles(home, [{ path: "authorized_keys", text: readFileSync(`${key}.pub`, "utf8"), mode: 0o600 }]);
  chmodSync(home, 0o700);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
