import { existsSync } from "node:fs";
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Cancel, Clock } from "../../../base/clock.ts";
import { errnoOf } from "../../../base/errors.ts";
import { CommandFailure } from "../../failure.ts";
import { findCgroupLayout, type CgroupLayout } from "./cgroup-layout.ts";
import { groupFiles, groupSettings, type GroupFiles, type GroupLimits } from "./group-files.ts";
import { readKernelFile, writeKernelFile } from "./kernel-file.ts";
import { parseGroupSample, parseOomKills, type GroupSample } from "./group-sample.ts";

/** A killed process stays in its group until its parent has reaped it. */
const emptyWithinMs = 5000;
const emptyPollMs = 20;
/** Long enough for the last pages of a killed program to go, short enough that the rest of its group does no more work. */
const oomPollMs = 20;

/** A cgroup with limits on memory and CPU, like a container's. */
export class LimitedGroup {
  readonly name: string;
  readonly limits: GroupLimits;
  readonly version: 1 | 2;
  readonly #clock: Clock;
  readonly #files: GroupFiles;

  /** Makes the group; throws if this machine or this user cannot. */
  static async make(clock: Clock, name: string, limits: GroupLimits): Promise<LimitedGroup> {
    const layout = findCgroupLayout();
    if (layout === undefined) throw cannot(name, "this machine has no memory and CPU controllers mounted");
    const group = new LimitedGroup(clock, name, { limits, layout });
    try {
      if (layout.version === 2) writeKernelFile(join(layout.root, "cgroup.subtree_control"), "+memory +cpu");
      for (const folder of group.#files.folders) await mkdir(folder);
      for (const { path, value, isOptional } of groupSettings(layout, name, limits)) {
        if (!isOptional || existsSync(path)) writeKernelFile(path, value);
      }
    } catch (cause) {
      if (errnoOf(cause) !== "EEXIST") await group.remove();
      throw cannot(name, cause instanceof Error ? cause.message : String(cause), cause);
    }
    return group;
  }

  /** A group that already exists. */
  static existing(clock: Clock, name: string): LimitedGroup | undefined {
    const layout = findCgroupLayout();
    if (layout === undefined) return undefined;
    const group = new LimitedGroup(clock, name, { limits: {}, layout });
    return group.#files.folders.some((folder) => existsSync(folder)) ? group : undefined;
  }

  private constructor(
    clock: Clock,
    name: string,
    { limits, layout }: { readonly limits: GroupLimits; readonly layout: CgroupLayout },
  ) {
    this.#clock = clock;
    this.name = name;
    this.limits = limits;
    this.version = layout.version;
    this.#files = groupFiles(layout, name);
  }

  /** A command line that runs `command` inside the group from its first instruction on. */
  inside(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
    const moves = this.#files.procs.map((path) => `echo $$ > ${path}`).join(" && ");
    return ["/bin/sh", "-c", `${moves} && exec "$@"`, "sh", ...command];
  }

  add(pid: number): void {
    for (const path of this.#files.procs) writeKernelFile(path, `${pid}`);
  }

  pids(): readonly number[] {
    return readKernelFile(this.#files.procs[0] ?? "")
      .split("\n")
      .filter((line) => line !== "")
      .map(Number);
  }

  sample(): GroupSample {
    const { usage, peak, memoryStat, oomEvents, cpuUsage, procs } = this.#files;
    return parseGroupSample({
      version: this.version,
      usage: readKernelFile(usage),
      peak: readKernelFile(peak),
      memoryStat: readKernelFile(memoryStat),
      oomEvents: readKernelFile(oomEvents),
      cpuUsage: readKernelFile(cpuUsage),
      procs: readKernelFile(procs[0] ?? ""),
    });
  }

  /**
   * Kills the whole group as soon as the kernel has killed one of its processes. v2 does this with memory.oom.group=1, which
   * kubelet sets; v1 has no such setting. `told` gets each new count.
   */
  watchOom(told: (oomKills: number) => void): Cancel {
    let seen = parseOomKills(readKernelFile(this.#files.oomEvents));
    return this.#clock.every(oomPollMs, () => {
      const now = parseOomKills(readKernelFile(this.#files.oomEvents));
      if (now <= seen) return;
      seen = now;
      this.killAll();
      told(now);
    });
  }

  killAll(): void {
    for (const pid of this.pids()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        if (errnoOf(error) !== "ESRCH") throw error; // It has ended meanwhile.
      }
    }
  }

  /** Kills its processes, waits until it is empty, and removes it, if it still exists. */
  async remove(): Promise<void> {
    const endMs = this.#clock.monotonicMs() + emptyWithinMs;
    while (this.pids().length > 0 && this.#clock.monotonicMs() < endMs) {
      this.killAll();
      await this.#clock.sleep(emptyPollMs);
    }
    for (const folder of this.#files.folders) await this.#removeFolder(folder, endMs);
  }

  async #removeFolder(folder: string, endMs: number): Promise<void> {
    for (;;) {
      try {
        await rmdir(folder);
        return;
      } catch (cause) {
        const errno = errnoOf(cause);
        if (errno === "ENOENT") return;
        if (errno !== "EBUSY" || this.#clock.monotonicMs() > endMs)
          throw cannot(this.name, `${folder}: ${errno}`, cause);
      }
      await this.#clock.sleep(emptyPollMs);
    }
  }
}

function cannot(name: string, reason: string, cause?: unknown): CommandFailure {
  return new CommandFailure("cgroup-unusable", `Cannot use the cgroup ${name}: ${reason}`, {
    remedy: "run as root outside a container, where /sys/fs/cgroup is writable and has the memory and cpu controllers",
    ...(cause === undefined ? {} : { cause }),
  });
}
