import { readFileSync } from "node:fs";
import { pause } from "../../test/e2e/until.ts";

const lookMs = 250;
/** The share of all cores that an API server and the bench itself use when idle. */
const busyShareMax = 0.08;
/** Two samples in a row, because the kernel dismantles removed namespaces in bursts. */
const idleLooks = 2;
const patienceMs = 60_000;

/**
 * Waits until the machine is idle: the kernel dismantles 225 network namespaces long after their removal, and that would
 * slow down the next contender. Returns whether the machine became idle in time.
 */
export async function idleMachine(): Promise<boolean> {
  let idle = 0;
  let before = coreTicks();
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    await pause(lookMs);
    const now = coreTicks();
    idle = busyShare(before, now) <= busyShareMax ? idle + 1 : 0;
    if (idle >= idleLooks) return true;
    before = now;
  }
  return false;
}

export interface CoreTicks {
  readonly busy: number;
  readonly all: number;
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. */
export function coreTicks(stat = readFileSync("/proc/stat", "utf8")): CoreTicks {
  const ticks = stat.slice(0, stat.indexOf("\n")).trim().split(/\s+/u).slice(1, 9).map(Number);
  const all = ticks.reduce((sum, tick) => sum + tick, 0);
  return { busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0), all };
}

export function busyShare(before: CoreTicks, now: CoreTicks): number {
  const all = now.all - before.all;
  return all === 0 ? 0 : (now.busy - before.busy) / all;
}
