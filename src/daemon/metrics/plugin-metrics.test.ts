import { expect, test } from "bun:test";
import type { Outcome } from "../../wire/outcome.ts";
import { PluginMetrics, exitOf } from "./plugin-metrics.ts";
import { MetricsRegistry } from "./metrics-registry.ts";

const good = { exitCode: 0, timedOut: false, oomCgroup: 0, oomNode: 0, wallUs: 30_000, cpuUs: 5_000, maxRssKib: 9 };

function outcome(changes: Partial<Outcome>): Outcome {
  return { ...good, ...changes } as Outcome; // only what is measured
}

test.each([
  ["ok", {}],
  ["failed", { exitCode: 1 }],
  ["failed", { exitCode: undefined, failure: "exec" as const }],
  ["missing", { exitCode: undefined, failure: "missing" as const }],
  ["timeout", { exitCode: undefined, signal: 9, timedOut: true }],
  ["signal", { exitCode: undefined, signal: 9 }],
  ["signal", { exitCode: undefined, failure: "killed" as const }],
  ["signal", { exitCode: undefined, signal: 9, failure: "killed" as const, oomNode: 1 }],
  ["oom", { exitCode: undefined, signal: 9, oomCgroup: 1 }],
  ["oom", { exitCode: undefined, signal: 9, oomNode: 1 }],
  ["signal", { exitCode: undefined, signal: 11, oomNode: 1 }],
] as const)("exitOf says %s of %j", (exit, changes) => {
  expect(exitOf(outcome(changes))).toBe(exit);
});

test("PluginMetrics keeps exits, time and the largest memory of each plugin, and counts OOM kills", () => {
  const metrics = new MetricsRegistry();
  const measures = new PluginMetrics(metrics);
  expect(metrics.render()).toContain("levee_delegate_oom_kills_total 0\n");
  const run = (changes: Partial<Outcome>): void =>
    measures.ran({ verb: "ADD", link: { type: "bridge" }, outcome: outcome(changes) } as never);
  run({ maxRssKib: 20 });
  run({ maxRssKib: 8, signal: 9, exitCode: undefined, oomCgroup: 1 });
  const text = metrics.render();
  for (const line of [
    'levee_delegate_exits_total{plugin="bridge",verb="ADD",exit="ok"} 1',
    'levee_delegate_exits_total{plugin="bridge",verb="ADD",exit="oom"} 1',
    'levee_delegate_seconds_bucket{plugin="bridge",verb="ADD",le="0.05"} 2',
    'levee_delegate_cpu_seconds_total{plugin="bridge"} 0.01',
    'levee_delegate_max_rss_bytes{plugin="bridge"} 20480',
    "levee_delegate_oom_kills_total 1",
  ])
    expect(text).toContain(`${line}\n`);
});
