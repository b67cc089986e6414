import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readPodKills } from "./pod-cgroups.ts";
import { PodOomKills } from "./pod-oom-kills.ts";

const uid = "0f1d5a3c-1b2c-4d3e-8f90-a1b2c3d4e5f6";
const systemdUid = uid.replaceAll("-", "_");
let root = "";

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "levee-cgroups-"));
});

afterEach(() => rm(root, { recursive: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(root, path, ".."), { recursive: true });
  await writeFile(join(root, path), text);
}

describe("readPodKills", () => {
  const events = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 2\noom_group_kill 0\n";

  test.each([
    `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${systemdUid}.slice`,
    `kubepods.slice/kubepods-pod${systemdUid}.slice`,
    `kubepods/besteffort/pod${uid}`,
    `kubepods/pod${uid}`,
    `own/kubepods/burstable/pod${uid}`,
    `kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod${systemdUid}.slice`,
  ])("finds a pod of cgroup v2 in %s, by its own count", async (folder) => {
    await write("cgroup.controllers", "cpu memory");
    await write(`${folder}/memory.events`, events);
    await write(`${folder}/cri-containerd-a.scope/memory.events`, "oom_kill 1\n");
    expect([...readPodKills(root)]).toEqual([[uid, new Map([["", 2]])]]);
  });

  test("finds the containers of a pod of cgroup v1, whose own group counts nothing", async () => {
    await write("memory/memory.limit_in_bytes", "9223372036854771712\n");
    const pod = `memory/kubepods/burstable/pod${uid}`;
    await write(`${pod}/memory.oom_control`, "oom_kill_disable 0\nunder_oom 0\noom_kill 0\n");
    await write(`${pod}/a/memory.oom_control`, "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    await write(`${pod}/b/memory.oom_control`, "oom_kill_disable 0\nunder_oom 0\n");
    expect([...readPodKills(root)]).toEqual([[uid, new Map([["a", 3]])]]);
  });

  test("finds nothing without a kubelet, or under other names", async () => {
    expect(readPodKills(root).size).toBe(0);
    await write("kubepods/podx/memory.events", events);
    await write(`kubepods/burstable/${uid}/memory.events`, events);
    expect(readPodKills(root).size).toBe(0);
  });
});

describe("PodOomKills", () => {
  const counts = (all: Readonly<Record<string, number>>): ReadonlyMap<string, ReadonlyMap<string, number>> =>
    new Map([["p", new Map(Object.entries(all))]]);

  test("counts kills after the daemon's first look from zero", () => {
    const kills = new PodOomKills();
    expect(kills.look(counts({ "": 5 })).get("p")).toBe(0);
    expect(kills.look(counts({ "": 5 })).get("p")).toBe(0);
    expect(kills.look(counts({ "": 7 })).get("p")).toBe(2);
  });

  test("shows zero first for a later pod, and then all of its kills", () => {
    const kills = new PodOomKills();
    kills.look(new Map());
    expect(kills.look(counts({ a: 1 })).get("p")).toBe(0);
    expect(kills.look(counts({ a: 1 })).get("p")).toBe(1);
  });

  test("keeps the kills of containers that are gone, and adds those of their successors", () => {
    const kills = new PodOomKills();
    kills.look(new Map());
    kills.look(counts({ a: 0, b: 0 }));
    expect(kills.look(counts({ a: 2, b: 1 })).get("p")).toBe(3);
    expect(kills.look(counts({ b: 1 })).get("p")).toBe(3);
    expect(kills.look(counts({ b: 1, c: 2 })).get("p")).toBe(5);
    // A new cgroup of the same name.
    expect(kills.look(counts({ b: 1, c: 1 })).get("p")).toBe(6);
  });

  test("forgets a pod that is gone", () => {
    const kills = new PodOomKills();
    kills.look(counts({ "": 1 }));
    expect(kills.look(new Map()).size).toBe(0);
    expect(kills.look(counts({ "": 0 })).get("p")).toBe(0);
  });
});
