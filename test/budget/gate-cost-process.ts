/**
 * The process whose cost is measured: a guard's view of a cluster, then the reboot gate on top of it. Prints one JSON line.
 * Started by gate-cost.test.ts with the engine's settings of the guard.
 */
import { readFileSync } from "node:fs";
import { VirtualClock } from "../../src/base/virtual-clock.fixture.ts";
import { silentLogger } from "../../src/base/log.ts";
import { propose } from "../../src/guard/decide/propose.ts";
import { defaultGuardSettings as settings } from "../../src/guard/facts/guard-settings.ts";
import type { ClusterPod } from "../../src/guard/facts/cluster-pod.ts";
import { guardMetrics } from "../../src/guard/metrics/guard-metrics.ts";
import type { World } from "../../src/guard/facts/world.ts";
import { readyPod, world } from "../../src/guard/world.fixture.ts";
import type { GateObjects } from "../../src/guard/gate/gate-objects.ts";
import type { RebootGate } from "../../src/wire/reboot-gate.ts";

const [nodeCount = 0, podCount = 0, rounds = 0, roundMs = 0, waiting = nodeCount] = process.argv.slice(2).map(Number);
const clock = new VirtualClock();
const names = Array.from({ length: nodeCount }, (_, index) => `node-${index}`);
let pods: readonly ClusterPod[] = Array.from({ length: podCount }, (_, index) => {
  const node = names[index % nodeCount] ?? "";
  const isDoor = index < 2 * nodeCount;
  const owner =
    index < nodeCount ? "DaemonSet/levee" : isDoor ? "DaemonSet/levee-hand" : `ReplicaSet/web-${index % 500}`;
  const namespace = isDoor ? "levee-system" : `ns-${index % 50}`;
  return readyPod(`pod-${index}`, { node, namespace, owner, ...(isDoor ? { door: "deny" } : {}) });
});
const alerts = Array.from({ length: 45 }, (_, index) => ({
  name: `Alert${index}`,
  labels: { pod: `p-${index}` },
  startsMs: 1,
}));
let round = 0;

function facts(): World {
  return world({
    nowMs: clock.wallMs(),
    pods,
    nodes: names.map((name) => ({ name, isReady: true, memoryBytes: 2 ** 30, address: "", bootId: name })),
    // A node waits throughout; alerts come and go.
    alerts: round % 4 === 0 ? [] : alerts,
    nodeViews: names.map((node, index) => ({
      node,
      atMs: clock.wallMs() - 10_000,
      waiting: 0,
      running: 0,
      leaks: 0,
      isRebootRequired: index < waiting,
      ...(index < waiting ? { rebootRequiredSinceMs: 1 } : {}),
    })),
  });
}

// What a guard does in each round anyhow, so that the engine's own growth is not counted for the gate.
for (let index = 0; index < rounds / 7; index += 1) {
  propose(facts(), settings);
  guardMetrics({ ...facts(), isLeader: true, runningMs: 1, refusedProposals: 0, health: [] });
}
const before = memory();
const { GateKeeper } = await import("../../src/guard/gate/gate-keeper.ts");
const { defaultGateSettings } = await import("../../src/guard/gate/gate-settings.ts");
const { parseRebootGate } = await import("../../src/wire/reboot-gate.ts");
const { gateMetrics } = await import("../../src/guard/gate/gate-metrics.ts");
const gates = new Map<string, RebootGate>();
let requests = 0;

/** Keeps what is written, as an API server does. */
function store(method: string, path: string, body: string): void {
  requests += 1;
  const name = path.split("/").at(-1) ?? "";
  const { metadata, status } = JSON.parse(body) as { metadata: { labels?: Record<string, string> }; status?: object }; // the gate's own
  const door = metadata.labels?.["levee.dev/reboot"];
  if (door !== undefined) pods = pods.map((pod) => (pod.name === name ? { ...pod, door } : pod));
  else if (method === "DELETE") gates.delete(name);
  else {
    const gate = parseRebootGate({ metadata, status });
    if (gate !== undefined) gates.set(gate.node, gate);
  }
}

const objects = {
  isCurrent: () => true,
  gates: () => gates,
  gate: (node: string) => gates.get(node),
  exceptions: () => [],
  overrides: () => [],
  shutBudgets: () => [],
  replicas: () => [],
} as unknown as GateObjects; // what the keeper reads
const keeper = new GateKeeper({
  api: {
    async call({ method, path, body = "{}" }) {
      await Promise.resolve();
      store(method, path, body);
      return "{}";
    },
    lines: () => {
      throw new Error("nothing is watched here");
    },
  },
  clock,
  logger: silentLogger,
  settings,
  gate: { ...defaultGateSettings, doors: ["label"] },
  facts: { isCurrent: () => true, world: facts, policies: () => [] },
  objects,
});
const term = { identity: "measured", fence: 1, isHeld: () => true };
const day = Math.max(1, Math.floor(rounds / 7));
let afterDay = before;
let cpuMs = 0;
for (; round < rounds; round += 1) {
  const cpu = process.cpuUsage();
  await keeper.look(term);
  const used = process.cpuUsage(cpu);
  cpuMs = Math.max(cpuMs, (used.user + used.system) / 1_000);
  gateMetrics({ clock, isLeader: true, world: facts(), settings: defaultGateSettings, objects, keeper });
  await clock.advance(roundMs);
  if (round + 1 === day) afterDay = memory();
}
console.log(JSON.stringify({ before, afterDay, afterAll: memory(), cpuMs, requests, gates: gates.size }));
process.exit(0);

function memory(): { readonly heapKib: number; readonly rssKib: number } {
  Bun.gc(true);
  Bun.gc(true);
  const rss = /^Rss:\s+(\d+) kB/mu.exec(readFileSync("/proc/self/smaps_rollup", "utf8"))?.[1];
  return { heapKib: Math.round(process.memoryUsage().heapUsed / 1_024), rssKib: Number(rss) };
}
