import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";
import { run } from "../../test/e2e/run.ts";

const mark = "LEVEE_BENCH_FOLDER";
const prefix = "levee-bench-";
/** More than a run makes. */
const groupsMax = 100;
/** A shell that waits for the program it is given, and so for every orphan below it. */
const reaper = ["/bin/sh", "-c", '"$@"; exit $?', "sh"];
const namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation=private"];

/** The folder of this run, once inside. */
export function insideFolder(): string | undefined {
  return process.env[mark];
}

/**
 * Runs the same command again in mount, network and process namespaces of its own: bridges, mounts and processes go
 * with it, however it ends. Whoever kills us kills all of it.
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

/** What a run that was killed could not remove itself. */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(prefix))) {
    const owner = /^levee-bench-(\d+)-/u.exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) await remove(join(tmpdir(), name));
  }
}

/** The groups are numbered, so the first that is not there ends the search. */
async function remove(folder: string): Promise<void> {
  const groupOf = (end: string): LimitedGroup | undefined =>
    LimitedGroup.existing(systemClock, `${basename(folder)}-${end}`);
  await groupOf("runtime")?.remove();
  for (let number = 1; number <= groupsMax; number += 1) await groupOf(String(number))?.remove();
  rmSync(folder, { recursive: true, force: true });
}

/** The loopback that the API server listens on, and a /run that nobody else writes to. */
export function furnishNamespaces(): void {
  run("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run");
  mkdirSync("/run/netns");
  run("ip", "link", "set", "lo", "up");
  // The API server wants an address to tell others, though nobody asks.
  run("ip", "link", "add", "node0", "type", "bridge");
  run("ip", "addr", "add", "172.31.255.1/24", "dev", "node0");
  run("ip", "link", "set", "node0", "up");
  run("ip", "route", "add", "default", "dev", "node0");
}
