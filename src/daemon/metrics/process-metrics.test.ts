import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { VirtualClock } from "../../base/virtual-clock.fixture.ts";
import { registerProcess } from "./process-metrics.ts";
import { MetricsRegistry } from "./metrics-registry.ts";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function scrape(files: Readonly<Record<string, string>>): readonly string[] {
  const root = mkdtempSync(join(tmpdir(), "levee-process-"));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const metrics = new MetricsRegistry();
  registerProcess(metrics, new VirtualClock(), root);
  return metrics
    .render()
    .split("\n")
    .filter((line) => line.startsWith("levee_memory_"));
}

test("registerProcess shows a cgroup v2", () => {
  const lines = scrape({
    "proc/self/cgroup": "0::/pod\n",
    "sys/fs/cgroup/pod/memory.max": "100\n",
    "sys/fs/cgroup/pod/memory.current": "90\n",
    "sys/fs/cgroup/pod/memory.stat": "anon 7\ninactive_file 10\n",
    "sys/fs/cgroup/pod/memory.events": "low 0\nhigh 0\nmax 5\noom 3\noom_kill 2\n",
  });
  expect(lines).toEqual([
    "levee_memory_limit_bytes 100",
    "levee_memory_usage_bytes 90",
    "levee_memory_working_set_bytes 80",
    "levee_memory_limit_hits_total 5",
    "levee_memory_oom_total 3",
    "levee_memory_oom_kills_total 2",
  ]);
});

test("registerProcess shows a cgroup v1, and leaves out unknown values", () => {
  const lines = scrape({
    "proc/self/cgroup": "5:memory:/of/the/host\n0::/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "90\n",
    "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 10\n",
    "sys/fs/cgroup/memory/memory.failcnt": "4\n",
    "sys/fs/cgroup/memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
  });
  expect(lines).toEqual([
    "levee_memory_usage_bytes 90",
    "levee_memory_working_set_bytes 80",
    "levee_memory_limit_hits_total 4",
    "levee_memory_oom_kills_total 2",
  ]);
  expect(scrape({})).toEqual([]);
});
