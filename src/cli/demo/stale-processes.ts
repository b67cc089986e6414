import { readdir, readFile } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import { runTool } from "../context.ts";
import type { Shell } from "../shell.ts";
import { sitePaths, type Site } from "./site.ts";

/** The daemon and the hand of a killed demo, found by the site's paths on their command lines. */
export async function staleProcesses(site: Site, proc = "/proc"): Promise<readonly number[]> {
  const pids = (await readdir(proc)).filter((name) => /^[0-9]+$/u.test(name)).map(Number);
  const found = await Promise.all(pids.map(async (pid) => (isOfSite(await commandLine(proc, pid), site) ? [pid] : [])));
  return found.flat();
}

export function isOfSite(args: readonly string[], site: Site): boolean {
  const isDaemon = args.includes("daemon") && args.includes(sitePaths(site).config);
  const isHand = args.includes("--resident") && args.includes(site.runDir);
  return isDaemon || isHand;
}

const askedMs = 12_000;
const killedMs = 2000;
const pollMs = 100;

/** Ends them: first SIGTERM, then SIGKILL. Returns those that still run. */
export async function endStale(shell: Pick<Shell, "clock" | "env">, site: Site): Promise<readonly number[]> {
  for (const [signal, waitMs] of [
    ["TERM", askedMs],
    ["KILL", killedMs],
  ] as const) {
    for (const pid of await staleProcesses(site))
      await runTool(shell, "sh", ["-c", 'kill -s "$0" "$1"', signal, String(pid)]);
    await untilGone(shell.clock, site, waitMs);
  }
  return await staleProcesses(site);
}

async function untilGone(clock: Clock, site: Site, waitMs: number): Promise<void> {
  const endMs = clock.monotonicMs() + waitMs;
  while (clock.monotonicMs() < endMs && (await staleProcesses(site)).length > 0) await clock.sleep(pollMs);
}

/** Empty if the process has ended. */
async function commandLine(proc: string, pid: number): Promise<readonly string[]> {
  const text = await readFile(`${proc}/${pid}/cmdline`, "utf8").catch(() => "");
  return text.split("\0");
}
