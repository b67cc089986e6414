import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { version } from "../src/base/version.ts";

/** The facts that a reader needs to judge the figures. */
export async function machineFacts(): Promise<Readonly<Record<string, string>>> {
  const load = await readFile("/proc/loadavg", "utf8");
  return {
    "levee": `${version} (${commit()})`,
    "date": new Date().toISOString().slice(0, 10),
    "processor": `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}`,
    "memory": `${Math.round(totalmem() / 1024 ** 3)} GiB`,
    "kernel": release(),
    "bun": Bun.version,
    "load before": load.split(" ").slice(0, 1).join(""),
  };
}

/** The processors' time so far, and how much of it a virtual machine's host gave to others. */
export interface Ticks {
  readonly all: number;
  readonly stolen: number;
}

export function stolenTicks(stat = readFileSync("/proc/stat", "utf8")): Ticks {
  const [, ...fields] = (stat.split("\n")[0] ?? "").split(/\s+/u);
  // user, nice, system, idle, iowait, irq, softirq, steal. The first two already include the fields after these.
  const ticks = fields.slice(0, 8).map(Number);
  return { all: ticks.reduce((sum, one) => sum + one, 0), stolen: ticks[7] ?? 0 };
}

/** A figure says little if the host gave the processors to others meanwhile. */
export function stolenSince(before: Ticks, now = stolenTicks()): string {
  const all = now.all - before.all;
  return `${(all === 0 ? 0 : (100 * (now.stolen - before.stolen)) / all).toFixed(1)} % of the processors' time`;
}

/** The commit of the sources, with a mark for uncommitted changes. */
function commit(): string {
  const { status, stdout } = spawnSync("git", ["describe", "--always", "--dirty", "--exclude=*"], {
    cwd: import.meta.dir,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : "no git";
}
