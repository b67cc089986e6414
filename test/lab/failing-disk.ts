import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

/** An ext4 file system of its own in a folder, which can be made to fail as a bad disk does. */
export class FailingDisk implements Disposable {
  readonly #folder: string;
  readonly #image: string;

  constructor(folder: string, image: string) {
    this.#folder = folder;
    this.#image = image;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    execFileSync("truncate", ["-s", "16M", image]);
    execFileSync("mkfs.ext4", ["-q", "-F", image]);
    execFileSync("mount", ["-o", "loop,errors=remount-ro", image, folder]);
  }

  /** From here on the kernel refuses every write, as after an error that it found itself. */
  fail(): void {
    const device = execFileSync("losetup", ["-j", this.#image], { encoding: "utf8" }).split(":")[0] ?? "";
    writeFileSync(`/sys/fs/ext4/${basename(device)}/trigger_fs_error`, "1");
  }

  /** Another disk at the same place, empty, as after a repair that found nothing. */
  replace(): void {
    this.#unmount();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=0700", "levee-test", this.#folder]);
  }

  [Symbol.dispose](): void {
    this.#unmount();
  }

  /** Lazily, because a daemon may have files open. */
  #unmount(): void {
    spawnSync("umount", ["-l", this.#folder]);
  }
}

/** Whether this machine has what a failing disk needs. */
export const hasFailingDisks = ((): boolean => {
  const programs = ["mkfs.ext4", "losetup"].every((name) => spawnSync(name, ["--version"]).status !== null);
  return (
    programs &&
    statSync("/dev/loop-control", { throwIfNoEntry: false }) !== undefined &&
    readdirSync("/sys/fs").includes("ext4")
  );
})();
