import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { rm, statfs } from "node:fs/promises";
import { join } from "node:path";
import { run } from "../e2e/run.ts";

/** A file system of its own below one folder, small enough to be filled up. */
export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static mount(folder: string, size: string): SmallDisk {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    run("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "levee-soak", folder);
    return new SmallDisk(folder);
  }

  /** Takes every block that is left. */
  async fill(): Promise<void> {
    spawnSync("dd", ["if=/dev/zero", `of=${this.#fill}`, "bs=4k"], { stdio: "ignore" });
    const { bavail } = await statfs(this.#folder);
    if (bavail !== 0) throw new Error(`Cannot fill ${this.#folder}: ${bavail} blocks are left`);
  }

  async makeRoom(): Promise<void> {
    await rm(this.#fill, { force: true });
  }

  unmount(): void {
    run("umount", "-l", this.#folder);
  }

  async usedBytes(): Promise<number> {
    const { blocks, bfree, bsize } = await statfs(this.#folder);
    return (blocks - bfree) * bsize;
  }

  get #fill(): string {
    return join(this.#folder, "fill");
  }
}
