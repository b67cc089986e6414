import { describe, expect, test } from "bun:test";
import { cgroupLayout } from "./cgroup-layout.ts";

const v1 = [
  "30 24 0:26 / /sys/fs/cgroup/systemd rw,nosuid shared:10 - cgroup cgroup rw,xattr,name=systemd",
  "33 24 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:13 - cgroup cgroup rw,memory",
  "34 24 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:14 - cgroup cgroup rw,cpu,cpuacct",
  "90 24 0:29 / /mnt/copy/memory rw - cgroup cgroup rw,memory",
].join("\n");
const v2 = "35 24 0:31 / /sys/fs/cgroup rw,nosuid shared:15 - cgroup2 cgroup2 rw,nsdelegate";

describe("cgroupLayout", () => {
  test("finds the controllers of v1, the first mount of each", () => {
    expect(cgroupLayout(v1, "")).toEqual({
      version: 1,
      memory: "/sys/fs/cgroup/memory",
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
    });
  });

  test("finds the one tree of v2", () => {
    expect(cgroupLayout(v2, "cpuset cpu io memory pids\n")).toEqual({ version: 2, root: "/sys/fs/cgroup" });
  });

  test("takes v1 where a tree without controllers is mounted beside it", () => {
    expect(cgroupLayout(`${v1}\n${v2}`, "\n")?.version).toBe(1);
  });

  test("finds nothing where no tree has memory", () => {
    expect(cgroupLayout(v2, "cpu pids\n")).toBeUndefined();
    expect(cgroupLayout("", "")).toBeUndefined();
  });
});
