import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { cpus, release, totalmem } from "node:os";
import { version } from "../src/base/version.ts";

/** What a reader must know to judge the figures. */
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

/** Which source it was; a tree with changes of its own says so. */
function commit(): string {
  const { status, stdout } = spawnSync("git", ["describe", "--always", "--dirty", "--exclude=*"], {
    cwd: import.meta.dir,
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : "no git";
}
