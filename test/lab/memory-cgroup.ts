import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const tree = "/sys/fs/cgroup/memory";
const endMsMax = 10_000;

/** On cgroup v2 a test would need a delegated tree; reading its files is tested on recorded text. */
export const hasMemoryCgroups = existsSync(join(tree, "memory.limit_in_bytes"));

let made = 0;

/** A cgroup of the kernel's first version with a limit on memory. */
export class MemoryCgroup implements AsyncDisposable {
  readonly folder: string;

  constructor(limitBytes: number) {
    this.folder = join(tree, `levee-test-${process.pid}-${(made += 1)}`);
    mkdirSync(this.folder);
    writeFileSync(join(this.folder, "memory.limit_in_bytes"), String(limitBytes));
  }

  /** A command line that runs another in here. */
  get prefix(): readonly string[] {
    return ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', this.folder];
  }

  take(pid: number): void {
    writeFileSync(join(this.folder, "cgroup.procs"), String(pid));
  }

  get usageBytes(): number {
    return Number(readFileSync(join(this.folder, "memory.usage_in_bytes"), "utf8"));
  }

  /** The most that was ever charged, file cache included. */
  get maxUsageBytes(): number {
    return Number(readFileSync(join(this.folder, "memory.max_usage_in_bytes"), "utf8"));
  }

  /** A row of `memory.stat`. */
  stat(row: string): number {
    const found = readFileSync(join(this.folder, "memory.stat"), "utf8")
      .split("\n")
      .find((line) => line.startsWith(`${row} `));
    return Number(found?.slice(row.length) ?? Number.NaN);
  }

  /** Waits until all that ran in it has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    const endsMs = performance.now() + endMsMax;
    while (readFileSync(join(this.folder, "cgroup.procs"), "utf8") !== "" && performance.now() < endsMs)
      await new Promise((resolve) => setTimeout(resolve, 20));
    rmdirSync(this.folder);
  }
}
