import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";
import { run } from "../../test/e2e/run.ts";

const mark = "LEVEE_BENCH_FOLDER";
const prefix = "levee-bench-";
/** More than a run creates. */
const groupsMax = 100;
/** A shell that waits for its program, and so reaps every orphan below it. */
const reaper = ["/bin/sh", "-c", '"$@"; exit $?', "sh"];
const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private"];

/** The folder of this run, once inside. */
export function insideFolder(): string | undefined {
  return process.env[mark];
}

/**
 * Runs the same command again in its own mount, network and process namespaces. Bridges, mounts and processes end with
 * it, even if it is killed.
 */
export async function runInside(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  await removeLeftovers();
  const folder = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`));
  const command = ["--pdeathsig", "KILL", "unshare", ...namespaces, ...reaper, process.execPath, file, ...args];
  try {
    const { status } = spawnSync("setpriv", command, {
      stdio: "inherit",
      env: { ...process.env, ...env, [mark]: folder },
    });
    return status ?? 1;
  } finally {
    await remove(folder);
  }
}

/** Removes the folders and cgroups that a killed run has left. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const owner = /^levee-bench-(\d+)-/u.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) await remove(join(tmpdir(), name));
  }
}

/** Tries every number, because a run removes its groups in any order. */
async function remove(folder: string): Promise<void> {
  const groupOf = (end: string): LimitedGroup | undefined =>
    LimitedGroup.existing(systemClock, `${basename(folder)}-${end}`);
  await groupOf("runtime")?.remove();
  for (let number = 1; number <= groupsMax; number += 1) await groupOf(String(number))?.remove();
  rmSync(folder, { recursive: true, force: true });
}

/** The loopback that the API server listens on, and a private /run. */
export function furnishNamespaces(): void {
  run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
  mkdirSync("/run/netns");
  run("ip", "link", "set", "lo", "up");
  // The API server needs an address to advertise, even though no client uses it.
  run("ip", "link", "add", "node0", "type", "bridge");
  run("ip", "addr", "add", "172.31.255.1/24", "dev", "node0");
  run("ip", "link", "set", "node0", "up");
  run("ip", "route", "add", "default", "dev", "node0");
}
