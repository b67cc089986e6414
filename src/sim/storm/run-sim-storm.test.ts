import { describe, expect, test } from "bun:test";
import { mibBytes } from "../machine/sim-machine.ts";
import { judgeSimStorm } from "./judge-sim-storm.ts";
import { runSimStorm } from "./run-sim-storm.ts";
import { simStormPlan } from "./sim-storm-plan.fixture.ts";
import type { SimStormPlan } from "./sim-storm-plan.ts";

/** Of each plan of the fixture. */
const criticalPods = 2;

describe("runSimStorm with Levee", () => {
  test("holds a small storm at 50Mi, leaves nothing behind, and is the same byte for byte", async () => {
    const plan = simStormPlan({ pods: 40 });
    const end = await runSimStorm(plan);
    expect(end.broken).toEqual([]);
    expect(end.nodes).toMatchObject([{ pods: 42, attached: 42, oomKills: 0, restarts: 0, refusals: 0, leaks: 0 }]);
    expect(JSON.stringify(await runSimStorm(plan))).toBe(JSON.stringify(end));
    expect((await runSimStorm({ ...plan, seed: 2 })).hash).not.toBe(end.hash);
  }, 60_000);

  test("a CPU limit makes it slower, by the daemon's own work", async () => {
    const took = async (cpuMillis: number | undefined): Promise<number> => {
      const plan = simStormPlan({ pods: 40, limits: { limitBytes: 50 * mibBytes, cpuMillis } });
      return (await runSimStorm(plan)).nodes[0]?.tookMs ?? Number.NaN;
    };
    expect(await took(20)).toBeGreaterThan(2 * (await took(undefined)));
  }, 60_000);

  test("a limit below what the daemon needs gets it killed, with the kubelet's growing pauses", async () => {
    const limits = { limitBytes: 15 * mibBytes, cpuMillis: undefined };
    const end = await runSimStorm(simStormPlan({ pods: 4, limits, timeoutMs: 60_000 }));
    expect(end.nodes[0]?.oomKills).toBeWithin(3, 8);
    expect(end.nodes[0]?.attached).toBe(0);
    expect(end.broken.join("; ")).toContain(
      "were not attached within 1m; the kernel killed the daemon of node-1 for memory",
    );
  }, 60_000);

  test("attaches every pod though the daemon is killed every 2 s, and nothing leaks", async () => {
    const kills = [0.2, 2.2, 4.2].map((at) => ({
      node: "node-1",
      fault: { kind: "kill-daemon" as const, atMs: at * 1_000 },
    }));
    const end = await runSimStorm(simStormPlan({ pods: 60, faults: kills, restartMs: [0] }));
    expect(end.broken).toEqual([]);
    expect(end.nodes[0]).toMatchObject({ attached: 62, refusals: 0, leaks: 0 });
    expect(end.nodes[0]?.restarts).toBeGreaterThan(0);
  }, 60_000);

  test("counts the lists that a daemon begins with after a restart, though they come as watches", async () => {
    const kill = { node: "node-1", fault: { kind: "kill-daemon" as const, atMs: 100 } };
    const { api, moments } = await runSimStorm(simStormPlan({ pods: 20, faults: [kill], restartMs: [0] }));
    // Of pods and of networks.
    expect(api.lists).toBe(2);
    const { lists, watches, gets, writes } = api;
    expect(lists + watches + gets + writes).toBe(moments.at(-1)?.requests ?? 0);
    expect((await runSimStorm(simStormPlan({ pods: 20 }))).api.lists).toBe(0);
  }, 60_000);

  test("tells of each pod how the storm ended, and nothing of the deletes after it", async () => {
    // Four pods are attached. The others hang, and their ADDs end only while everything is deleted.
    const plan = hungPlan(4, 4);
    const { records, simulatedMs } = await runSimStorm(plan);
    expect(simulatedMs).toBeGreaterThan(5_000);
    expect(records.map(({ goneMs }) => goneMs)).toEqual(plan.pods.map(() => undefined));
    expect(records.map(({ refusals }) => refusals)).toEqual(plan.pods.map(() => 0));
    expect(records.filter(({ isAttached }) => isAttached)).toHaveLength(4);
    expect(records.filter(({ attachedMs }) => attachedMs !== undefined)).toHaveLength(4);
  }, 60_000);

  test("goes on for as long as the plan says, though every pod that has to be is attached", async () => {
    const { records, nodes } = await runSimStorm({ ...hungPlan(4, 4), lastsMs: 45_000 });
    expect(records.filter(({ isAttached }) => isAttached)).toHaveLength(4);
    expect(nodes[0]?.refusals).toBeGreaterThan(0);
    expect(nodes[0]?.tookMs).toBeLessThan(5_000);
  }, 60_000);

  test("ends with what is known when it is interrupted", async () => {
    let moments = 0;
    const end = await runSimStorm(simStormPlan({ pods: 200 }), {
      onMoment: () => (moments += 1),
      isInterrupted: () => moments > 5,
    });
    expect(end.isInterrupted).toBe(true);
    expect(end.broken).toEqual([]);
    expect(end.nodes[0]?.attached).toBeWithin(1, 200);
  }, 60_000);
});

/** So many ordinary pods and critical ones, and others, which need not be attached, on a network that hangs. */
function hungPlan(pods: number, hung: number): SimStormPlan {
  const plan = simStormPlan({ pods: hung + pods - criticalPods });
  const fault = { kind: "network-hangs" as const, atMs: 0, forMs: 60_000, network: "stuck" };
  return {
    ...plan,
    networks: [...plan.networks, "stuck"],
    pods: plan.pods.map((pod, index) => (index < hung ? { ...pod, networks: ["stuck"], mustRun: false } : pod)),
    faults: [{ node: "node-1", fault }],
  };
}

describe("runSimStorm with Multus", () => {
  test("the seeds' storm at 50Mi is killed for memory, and leaves addresses behind", async () => {
    const end = await runSimStorm(simStormPlan({ impl: "multus-4.2.2", pods: 219, timeoutMs: 60_000 }));
    const [node] = end.nodes;
    expect(node?.oomKills).toBeGreaterThan(1);
    expect(node?.firstKillMs).toBeLessThan(30_000);
    expect(node?.attached).toBeLessThan(219);
    expect(end.broken.join("; ")).toContain("the kernel killed the daemon of node-1 for memory");
  }, 60_000);

  test("a daemon that ran for ten minutes starts again after the first pause", async () => {
    const kills = [1, 10, 900].map((at) => ({
      node: "node-1",
      fault: { kind: "kill-daemon" as const, atMs: at * 1_000 },
    }));
    const plan = simStormPlan({ impl: "multus-4.2.2", pods: 1, faults: kills });
    const pods = plan.pods.map((pod) => ({ ...pod, atMs: 905_000 }));
    expect((await runSimStorm({ ...plan, pods })).broken).toEqual([]);
  }, 60_000);

  test("holds a few pods, and the whole storm with enough memory or with a connection limit and 256Mi", async () => {
    const few = simStormPlan({ impl: "multus-4.2.2", pods: 4 });
    expect((await runSimStorm(few)).broken).toEqual([]);
    const limits = { limitBytes: 1_024 * mibBytes, cpuMillis: undefined };
    const large = simStormPlan({ impl: "multus-4.2.2", pods: 219, limits, criticalWithinMs: 60_000 });
    expect((await runSimStorm(large)).broken).toEqual([]);
    const some = { limitBytes: 256 * mibBytes, cpuMillis: undefined };
    const wanted = {
      impl: "multus-4.3.0",
      pods: 219,
      limits: some,
      connectionLimit: 8,
      criticalWithinMs: 60_000,
    } as const;
    expect((await runSimStorm(simStormPlan(wanted))).broken).toEqual([]);
  }, 60_000);
});

test("judgeSimStorm names what did not hold, and nothing for a storm that was ended early", async () => {
  const end = await runSimStorm(simStormPlan({ pods: 4 }));
  const records = end.records.map((record) => ({ ...record, attachedMs: record.arrivedMs + 10_000 }));
  const nodes = end.nodes.map((node) => ({ ...node, oomKills: 2, leaks: 3 }));
  expect(judgeSimStorm({ ...end, records, nodes }).broken).toEqual([
    "2 critical pods waited longer than 3s, the longest 10s",
    "the kernel killed the daemon of node-1 for memory, 2 times",
    "3 addresses were left behind on node-1",
  ]);
  expect(judgeSimStorm({ ...end, records, nodes, isInterrupted: true }).broken).toEqual([]);
}, 60_000);
