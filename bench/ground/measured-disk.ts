import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "../../test/e2e/run.ts";
import { dropPageCache } from "./page-cache.ts";

/** The default of a disk. A virtual one may have 8192, and then any program thrashes in a small cgroup. */
const readAheadKib = 128;
/** Sparse: only written blocks take space. */
const imageBytes = 4 * 1024 ** 3;

/**
 * A separate file system on a loop device, so that read-ahead can be set without changing the machine's disks. The device
 * reads its image past the page cache (direct I/O). Otherwise the kernel would charge the image's pages, with the
 * read-ahead of the disk below, to the cgroup that reads a program.
 */
export class MeasuredDisk {
  readonly folder: string;
  readonly #device: string;
  readonly #image: string;

  private constructor(folder: string, device: string, image: string) {
    this.folder = folder;
    this.#device = device;
    this.#image = image;
  }

  static make(scratch: string): MeasuredDisk {
    const [image, folder] = [join(scratch, "disk.img"), join(scratch, "disk")];
    writeFileSync(image, "");
    truncateSync(image, imageBytes);
    run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1", image);
    const device = run("losetup", "--find", "--show", "--direct-io=on", image).trim();
    const disk = new MeasuredDisk(folder, device, image);
    try {
      writeFileSync(disk.#queueFile, String(readAheadKib));
      mkdirSync(folder);
      run("mount", device, folder);
      // From now on the kernel removes the device together with the mount.
      run("losetup", "--detach", device);
      disk.requireReadAhead();
      return disk;
    } catch (thrown) {
      disk.remove();
      throw thrown;
    }
  }

  path(...parts: readonly string[]): string {
    return join(this.folder, ...parts);
  }

  /** For the machine facts: the actual settings, not the requested ones. */
  get facts(): string {
    const direct = readFileSync(`/sys/block/${basename(this.#device)}/loop/dio`, "utf8").trim();
    return `ext4 on ${this.#device}, read_ahead_kb ${this.#readAhead()}, direct I/O ${direct === "1" ? "on" : "off"}`;
  }

  /** Throws if the read-ahead is another one, because the figures would not be comparable. */
  requireReadAhead(): void {
    const seen = this.#readAhead();
    if (seen !== readAheadKib)
      throw new Error(
        `Cannot measure memory on ${this.#device}: its read_ahead_kb is ${seen} instead of ${readAheadKib}`,
      );
  }

  /** Copies a program to this disk, under its own or another name; its path. */
  install(program: string, name = basename(program)): string {
    const path = this.path("bin", name);
    mkdirSync(this.path("bin"), { recursive: true });
    if (!existsSync(path)) copyFileSync(program, path);
    return path;
  }

  /** A new node has an empty page cache: program text is read, and charged to the cgroup of its reader. */
  dropPageCache(): void {
    this.requireReadAhead();
    dropPageCache();
  }

  remove(): void {
    if (existsSync(this.folder)) run("umount", "--lazy", this.folder);
    rmSync(this.#image, { force: true });
  }

  get #queueFile(): string {
    return `/sys/block/${basename(this.#device)}/queue/read_ahead_kb`;
  }

  #readAhead(): number {
    return Number(readFileSync(this.#queueFile, "utf8"));
  }
}
