/** The real kernel kills a child for memory while its container lives on: what the daemon counts of it. */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { registerPodMetrics, type PodMetricsOptions } from "../../src/daemon/metrics/pod-metrics.ts";
import { MetricsRegistry } from "../../src/daemon/metrics/metrics-registry.ts";
import { hasMemoryCgroups, MemoryCgroup } from "../lab/memory-cgroup.ts";

const uid = "0f1d5a3c-1b2c-4d3e-8f90-a1b2c3d4e5f6";
const mebibyte = 1024 * 1024;
if (!hasMemoryCgroups)
  process.stderr.write("test/alerts/child-kills.test.ts: skipped, as there is no cgroup v1 for memory\n");

test.skipIf(!hasMemoryCgroups)(
  "levee_pod_oom_kills_total rises with each child, and keeps what a container took along",
  async () => {
    await using top = new MemoryCgroup(256 * mebibyte);
    const folder = await mkdtemp(join(tmpdir(), "levee-kills-"));
    // The daemon looks for the kubelet's pods below a mount of the controller.
    symlinkSync(top.folder, join(folder, "memory"));
    const pod = join(top.folder, "kubepods", "burstable", `pod${uid}`);
    mkdirSync(pod, { recursive: true });
    const count = counter(folder);
    try {
      expect(count()).toBe(0);
      const first = await container(pod, 1, (kills) => expect(count()).toBe(kills));
      expect(count()).toBe(first);
      // The next container of the same pod, in a cgroup that counts from zero.
      const second = await container(pod, 2, (kills) => expect(count()).toBe(first + kills));
      expect(count()).toBe(first + second);
    } finally {
      for (const gone of [pod, join(pod, ".."), join(pod, "../..")]) rmdirSync(gone);
      await rm(folder, { recursive: true });
    }
  },
  60_000,
);

/** The metric's current value; every look is fresh. */
function counter(folder: string): () => number {
  let nowMs = 0;
  const metrics = new MetricsRegistry();
  const pods = [{ namespace: "kured", name: "gate", uid }];
  registerPodMetrics(metrics, {
    clock: { ...systemClock, monotonicMs: () => (nowMs += 10_000) },
    view: { pods: () => pods } as unknown as PodMetricsOptions["view"], // only the fields that it reads
    folders: [folder],
  });
  return () => Number(/namespace="kured",pod="gate"\} (\d+)/u.exec(metrics.render())?.[1]);
}

/**
 * A shell so many of whose children the kernel kills for memory, and which lives on until `look` has looked. The kernel
 * may take a neighbour of the child along, so its own count is what the metric has to tell.
 */
async function container(pod: string, children: number, look: (kills: number) => void): Promise<number> {
  const folder = join(pod, `container-${children}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "memory.limit_in_bytes"), String(16 * mebibyte));
  // Behind a pipe `tail` keeps as much as it is to print.
  const script = `echo $$ > ${folder}/cgroup.procs
    for child in $(seq ${children}); do head -c 200m /dev/zero | tail -c 200m > /dev/null; done
    echo alive; read -r _`;
  const shell = spawn("/bin/sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<void>((resolve) => shell.on("close", () => resolve()));
  const said = new Promise<string>((resolve) => shell.stdout.on("data", (chunk: Buffer) => resolve(chunk.toString())));
  try {
    expect(await said).toBe("alive\n");
    const kills = Number(/^oom_kill (\d+)$/mu.exec(readFileSync(join(folder, "memory.oom_control"), "utf8"))?.[1]);
    expect(kills).toBeGreaterThanOrEqual(children);
    look(kills);
    return kills;
  } finally {
    shell.kill("SIGKILL");
    await ended;
    rmdirSync(folder);
  }
}
