import { join } from "node:path";
import type { CgroupLayout } from "./cgroup-layout.ts";

/** The limits of a group. */
export interface GroupLimits {
  readonly memoryBytes?: number;
  /** Thousandths of one core. */
  readonly cpuMillis?: number;
}

/** One kernel file and what is written to it. */
interface GroupSetting {
  readonly path: string;
  readonly value: string;
  /** Some kernels do not have this file. */
  readonly isOptional: boolean;
}

/** The kernel's files of one group. */
export interface GroupFiles {
  readonly folders: readonly string[];
  /** A process ID written to each of these moves the process into the group. */
  readonly procs: readonly string[];
  readonly usage: string;
  readonly peak: string;
  readonly memoryStat: string;
  readonly oomEvents: string;
  readonly cpuUsage: string;
}

/** The period that kubelet uses. */
const cpuPeriodUs = 100_000;

export function groupFiles(layout: CgroupLayout, name: string): GroupFiles {
  if (layout.version === 2) {
    const folder = join(layout.root, name);
    return {
      folders: [folder],
      procs: [join(folder, "cgroup.procs")],
      usage: join(folder, "memory.current"),
      peak: join(folder, "memory.peak"),
      memoryStat: join(folder, "memory.stat"),
      oomEvents: join(folder, "memory.events"),
      cpuUsage: join(folder, "cpu.stat"),
    };
  }
  const memory = join(layout.memory, name);
  const cpu = join(layout.cpu, name);
  const cpuacct = join(layout.cpuacct, name);
  const folders = [...new Set([memory, cpu, cpuacct])];
  return {
    folders,
    procs: folders.map((folder) => join(folder, "cgroup.procs")),
    usage: join(memory, "memory.usage_in_bytes"),
    peak: join(memory, "memory.max_usage_in_bytes"),
    memoryStat: join(memory, "memory.stat"),
    oomEvents: join(memory, "memory.oom_control"),
    cpuUsage: join(cpuacct, "cpuacct.usage"),
  };
}

/** Settings to write before the first process is in: limits, no swap, and an OOM kill that kills the whole group. */
export function groupSettings(
  layout: CgroupLayout,
  name: string,
  { memoryBytes, cpuMillis }: GroupLimits,
): readonly GroupSetting[] {
  const must = (path: string, value: string | number): GroupSetting => ({ path, value: `${value}`, isOptional: false });
  const may = (path: string, value: string | number): GroupSetting => ({ path, value: `${value}`, isOptional: true });
  const quotaUs = cpuMillis === undefined ? undefined : Math.round((cpuMillis / 1000) * cpuPeriodUs);
  if (layout.version === 2) {
    const at = (file: string): string => join(layout.root, name, file);
    return [
      ...(memoryBytes === undefined
        ? []
        : [must(at("memory.max"), memoryBytes), may(at("memory.swap.max"), 0), must(at("memory.oom.group"), 1)]),
      ...(quotaUs === undefined ? [] : [must(at("cpu.max"), `${quotaUs} ${cpuPeriodUs}`)]),
    ];
  }
  const memory = (file: string): string => join(layout.memory, name, file);
  const cpu = (file: string): string => join(layout.cpu, name, file);
  return [
    ...(memoryBytes === undefined
      ? []
      : [
          must(memory("memory.limit_in_bytes"), memoryBytes),
          // Only for kernels that account swap, and only after the memory limit.
          may(memory("memory.memsw.limit_in_bytes"), memoryBytes),
        ]),
    ...(quotaUs === undefined
      ? []
      : [must(cpu("cpu.cfs_period_us"), cpuPeriodUs), must(cpu("cpu.cfs_quota_us"), quotaUs)]),
  ];
}
