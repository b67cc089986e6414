import { describe, expect, test } from "bun:test";
import { groupSettings } from "./group-files.ts";
import { parseGroupSample } from "./group-sample.ts";

describe("parseGroupSample", () => {
  test("reads the files of v2", () => {
    expect(
      parseGroupSample({
        version: 2,
        usage: "41943040\n",
        peak: "52428800\n",
        memoryStat: "anon 10485760\nfile 31457280\nanon_thp 1\ninactive_file 20971520\nactive_file 5\n",
        oomEvents: "low 0\nhigh 0\nmax 90\noom 3\noom_kill 2\noom_group_kill 1\n",
        cpuUsage: "usage_usec 1500000\nuser_usec 1\n",
        procs: "12\n13\n",
      }),
    ).toEqual({
      usageBytes: 41_943_040,
      anonBytes: 10_485_760,
      inactiveFileBytes: 20_971_520,
      peakBytes: 52_428_800,
      oomKills: 2,
      processes: 2,
      cpuMs: 1500,
    });
  });

  test("reads the files of v1", () => {
    expect(
      parseGroupSample({
        version: 1,
        usage: "41943040\n",
        peak: "52428800\n",
        memoryStat: "rss 1\ninactive_file 2\ntotal_rss 10485760\ntotal_inactive_file 20971520\n",
        oomEvents: "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
        cpuUsage: "1500000000\n",
        procs: "",
      }),
    ).toMatchObject({
      anonBytes: 10_485_760,
      inactiveFileBytes: 20_971_520,
      oomKills: 2,
      processes: 0,
      cpuMs: 1500,
    });
  });

  test("takes the usage for the peak where the kernel keeps none", () => {
    const none = { memoryStat: "", oomEvents: "", cpuUsage: "", procs: "", peak: "" };
    expect(parseGroupSample({ version: 2, usage: "7\n", ...none }).peakBytes).toBe(7);
  });
});

describe("groupSettings", () => {
  test("in v2 limits memory, forbids swap and has the kernel kill all at once", () => {
    const settings = groupSettings({ version: 2, root: "/cg" }, "g", { memoryBytes: 52_428_800, cpuMillis: 100 });
    expect(settings.map(({ path, value }) => `${path}=${value}`)).toEqual([
      "/cg/g/memory.max=52428800",
      "/cg/g/memory.swap.max=0",
      "/cg/g/memory.oom.group=1",
      "/cg/g/cpu.max=10000 100000",
    ]);
  });

  test("limits nothing that was not asked for", () => {
    expect(groupSettings({ version: 1, memory: "/m", cpu: "/c", cpuacct: "/c" }, "g", {})).toEqual([]);
  });
});
