import { join } from "node:path";

/** The names of a cgroup's files, which differ between cgroup v1 and v2. */
interface CgroupNames {
  readonly limit: string;
  readonly usage: string;
  readonly stat: string;
  /** Has the row `oom_kill` in both versions. */
  readonly events: string;
  /** How often the limit was hit; v2 counts that in `events`. */
  readonly failures: string | undefined;
}

const namesOfV1: CgroupNames = {
  limit: "memory.limit_in_bytes",
  usage: "memory.usage_in_bytes",
  stat: "memory.stat",
  events: "memory.oom_control",
  failures: "memory.failcnt",
};
const namesOfV2: CgroupNames = {
  limit: "memory.max",
  usage: "memory.current",
  stat: "memory.stat",
  events: "memory.events",
  failures: undefined,
};

/**
 * Candidate folders for this process's memory cgroup, from the text of `/proc/self/cgroup`; the first one with a limit
 * file is right. In a container the host's path may not exist, and the root of the mount is the container's cgroup.
 */
export function cgroupPlaces(
  cgroups: string,
  root: string,
): { readonly folders: readonly string[]; readonly names: CgroupNames } {
  const v1 = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/mu.exec(cgroups)?.[1];
  const v2 = /^0::(.*)$/mu.exec(cgroups)?.[1];
  const mount = v1 === undefined ? "sys/fs/cgroup" : "sys/fs/cgroup/memory";
  const folders = new Set([join(root, mount, v1 ?? v2 ?? "/"), join(root, mount)]);
  return { folders: [...folders], names: v1 === undefined ? namesOfV2 : namesOfV1 };
}
