import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A container's cgroups (v1): its folders in both hierarchies. */
export interface ContainerGroup {
  readonly memory: string;
  readonly cpu: string;
}

/** The use of a group. Times and counts begin at its creation. */
export interface GroupReading {
  readonly usageBytes: number;
  readonly anonBytes: number;
  readonly processes: number;
  readonly oomKills: number;
  readonly cpuMs: number;
  /** Of it, in the kernel. */
  readonly kernelMs: number;
  readonly throttledPeriods: number;
  readonly throttledMs: number;
}

/** The cgroups of a container by its name in the kubelet, `containerd://ID`. */
export function containerGroup(name: string): ContainerGroup {
  const id = name.slice(name.lastIndexOf("/") + 1);
  const memory = folderNamed("/sys/fs/cgroup/memory", id);
  if (id === "" || memory === undefined) throw new Error(`There is no memory cgroup of container ${name}`);
  return { memory, cpu: memory.replace("/sys/fs/cgroup/memory/", "/sys/fs/cgroup/cpu/") };
}

export function readGroup(group: ContainerGroup): GroupReading {
  const cpu = fieldsOf(join(group.cpu, "cpu.stat"));
  return {
    usageBytes: Number(readFileSync(join(group.memory, "memory.usage_in_bytes"), "utf8")),
    anonBytes: fieldsOf(join(group.memory, "memory.stat")).get("total_rss") ?? 0,
    processes: processesOf(group).length,
    oomKills: oomKills(group),
    cpuMs: Number(readFileSync(join(accountOf(group), "cpuacct.usage"), "utf8")) / 1e6,
    // In ticks: a hundred a second on every current Linux.
    kernelMs: (fieldsOf(join(accountOf(group), "cpuacct.stat")).get("system") ?? 0) * 10,
    throttledPeriods: cpu.get("nr_throttled") ?? 0,
    throttledMs: (cpu.get("throttled_time") ?? 0) / 1e6,
  };
}

/** The hierarchy that counts the processor time of a group. */
export function accountOf(group: ContainerGroup): string {
  return group.cpu.replace("/sys/fs/cgroup/cpu/", "/sys/fs/cgroup/cpuacct/");
}

export function oomKills(group: ContainerGroup): number {
  return fieldsOf(join(group.memory, "memory.oom_control")).get("oom_kill") ?? 0;
}

/** Does the same as `memory.oom.group` on cgroup v2. */
export function killAll(group: ContainerGroup): void {
  for (const pid of processesOf(group)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has already ended.
    }
  }
}

function processesOf(group: ContainerGroup): readonly number[] {
  const text = readFileSync(join(group.memory, "cgroup.procs"), "utf8").trim();
  return text === "" ? [] : text.split("\n").map(Number);
}

function fieldsOf(file: string): ReadonlyMap<string, number> {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return new Map(
    lines.map((line) => {
      const [key = "", value = ""] = line.split(" ");
      return [key, Number(value)];
    }),
  );
}

function folderNamed(folder: string, name: string): string | undefined {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = join(folder, entry.name);
    const found = entry.name === name ? path : folderNamed(path, name);
    if (found !== undefined) return found;
  }
  return undefined;
}
