import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { oncePerScrape, type MetricsRegistry, type Sample } from "./metrics-registry.ts";
import { cgroupPlaces } from "./own-cgroup.ts";

/** Registers what the daemon itself uses. A value that the kernel does not offer has no series. */
export function registerProcess(metrics: MetricsRegistry, clock: Clock, root = "/"): void {
  const startedSeconds = clock.wallMs() / 1_000;
  metrics.gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  metrics.gauge("process_start_time_seconds", "When the daemon started, in seconds since 1970", () => startedSeconds);
  metrics.gauge("process_open_fds", "Open files and sockets", () => readdirSync("/proc/self/fd").length);
  metrics.counted("process_cpu_seconds_total", "User and system time", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  metrics.gauge(
    "levee_anonymous_memory_bytes",
    "Memory that no file backs: the part that a limit is for",
    anonymousBytes,
  );
  registerCgroup(
    metrics,
    oncePerScrape(clock, () => readCgroup(root)),
  );
}

function registerCgroup(metrics: MetricsRegistry, cgroup: () => OwnCgroup): void {
  const gauge = (name: string, help: string, read: (cgroup: OwnCgroup) => number | undefined): void =>
    metrics.gauge(name, help, () => sampleOf(read(cgroup())));
  const counted = (name: string, help: string, read: (cgroup: OwnCgroup) => number | undefined): void =>
    metrics.counted(name, help, () => sampleOf(read(cgroup())));
  gauge("levee_memory_limit_bytes", "Limit of the daemon's cgroup; no series without one", (own) => own.limitBytes);
  gauge("levee_memory_usage_bytes", "Memory charged to the daemon's cgroup", (own) => own.usageBytes);
  gauge(
    "levee_memory_working_set_bytes",
    "Memory charged to the daemon's cgroup, without inactive file pages",
    (own) => own.workingSetBytes,
  );
  counted(
    "levee_memory_limit_hits_total",
    "Times that the daemon's cgroup reached its limit and the kernel had to reclaim memory",
    (own) => own.limitHits,
  );
  counted(
    "levee_memory_oom_total",
    "Times that the kernel could not reclaim enough; cgroup v2 only",
    (own) => own.ooms,
  );
  counted("levee_memory_oom_kills_total", "Processes killed in the daemon's cgroup for memory", (own) => own.oomKills);
}

interface OwnCgroup {
  readonly limitBytes: number | undefined;
  readonly usageBytes: number | undefined;
  readonly workingSetBytes: number | undefined;
  readonly limitHits: number | undefined;
  readonly ooms: number | undefined;
  readonly oomKills: number | undefined;
}

/** cgroup v1 writes a huge number for "no limit"; no node has 4 PiB. */
const unlimitedBytes = 2 ** 52;

function sampleOf(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ value }];
}

function readCgroup(root: string): OwnCgroup {
  const { folders, names } = cgroupPlaces(textOf(join(root, "proc/self/cgroup")) ?? "", root);
  const folder = folders.find((candidate) => textOf(join(candidate, names.limit)) !== undefined);
  const read = (name: string | undefined): string =>
    folder === undefined || name === undefined ? "" : (textOf(join(folder, name)) ?? "");
  const limitBytes = numberIn(read(names.limit));
  const usageBytes = numberIn(read(names.usage));
  const stat = read(names.stat);
  const events = read(names.events);
  const idleBytes = rowIn(stat, "total_inactive_file") ?? rowIn(stat, "inactive_file") ?? 0;
  return {
    limitBytes: limitBytes === undefined || limitBytes >= unlimitedBytes ? undefined : limitBytes,
    usageBytes,
    workingSetBytes: usageBytes === undefined ? undefined : Math.max(0, usageBytes - idleBytes),
    limitHits: rowIn(events, "max") ?? numberIn(read(names.failures)),
    ooms: rowIn(events, "oom"),
    oomKills: rowIn(events, "oom_kill"),
  };
}

function numberIn(text: string): number | undefined {
  const trimmed = text.trim();
  return /^\d+$/u.test(trimmed) ? Number(trimmed) : undefined;
}

function rowIn(text: string, name: string): number | undefined {
  const row = text.split("\n").find((line) => line.startsWith(`${name} `));
  return row === undefined ? undefined : numberIn(row.slice(name.length));
}

function anonymousBytes(): number {
  const match = /^RssAnon:\s+(\d+) kB$/mu.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(match?.[1] ?? 0) * 1_024;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // Many kernels lack the file; the metric then has no series.
    return undefined;
  }
}
