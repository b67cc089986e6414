import { describe, expect, test } from "bun:test";
import { defaultGateSettings } from "../../guard/gate/gate-settings.ts";
import { usualWallStartMs } from "../time/sim-time.ts";
import type { RebootPlan } from "./reboot-plan.ts";
import { runReboots } from "./run-reboots.ts";

interface Wish extends Partial<RebootPlan> {
  readonly count: number;
  readonly atOnce?: number;
}

/** Whoever reboots looks every second. */
function planOf({ count, atOnce = 1, ...wish }: Wish): RebootPlan {
  const nodes = Array.from({ length: count }, (_, number) => `node-${number + 1}`);
  return {
    title: "some nodes",
    seed: 1,
    nodes,
    due: nodes.map((node) => ({ node, atMs: 0 })),
    guards: 2,
    settings: {
      gate: { ...defaultGateSettings, atOnce, doors: ["label"] },
      door: "label",
      askMs: { first: 0, min: 1_000, max: 1_000 },
      rebootMs: 60_000,
    },
    startWallMs: usualWallStartMs,
    acts: [],
    faults: [],
    withinMs: 3_600_000,
    ...wish,
  };
}

describe("runReboots", () => {
  test("one plan gives one run, and another seed another one", async () => {
    const [first, second, other] = [
      await runReboots(planOf({ count: 2 })),
      await runReboots(planOf({ count: 2 })),
      await runReboots(planOf({ count: 2, seed: 2 })),
    ];
    expect(first.broken).toEqual([]);
    expect(second).toEqual(first);
    expect(other.hash).not.toBe(first.hash);
  }, 60_000);

  test("lets as many nodes be away at the same time as the gate's setting says", async () => {
    const one = await runReboots(planOf({ count: 4 }));
    expect([one.awayMax, one.broken]).toEqual([1, []]);
    const two = await runReboots(planOf({ count: 4, atOnce: 2 }));
    expect([two.awayMax, two.broken]).toEqual([2, []]);
  }, 60_000);

  test("opens the gate by the ticket as well", async () => {
    const plan = planOf({ count: 2 });
    const { broken, records } = await runReboots({ ...plan, settings: { ...plan.settings, door: "ticket" } });
    expect(broken).toEqual([]);
    expect(records.every(({ backMs }) => backMs !== undefined)).toBe(true);
  }, 60_000);

  test("knows more nodes than one part of an address has numbers", async () => {
    const { records, broken } = await runReboots(planOf({ count: 300, due: [{ node: "node-290", atMs: 0 }] }));
    expect(broken).toEqual([]);
    expect(records.map(({ node, backMs }) => [node, backMs !== undefined])).toEqual([["node-290", true]]);
  }, 120_000);

  test("says which reasons held a node, and which nodes did not come back in time", async () => {
    const down = { kind: "node-down", atMs: 0, forMs: 1_200_000, node: "node-1" } as const;
    const due = [{ node: "node-2", atMs: 30_000 }];
    const { records, closedMs, broken } = await runReboots(planOf({ count: 2, due, acts: [down], withinMs: 600_000 }));
    expect(records[0]?.heldMs.get("OtherNodeNotReady")).toBeGreaterThan(500_000);
    expect(closedMs.get("OtherNodeNotReady")).toBe(records[0]?.heldMs.get("OtherNodeNotReady") ?? -1);
    expect(broken).toEqual(["1 of 1 nodes were not rebooted within 10 min, such as node-2"]);
  }, 60_000);

  test("ends early with what is known", async () => {
    let moments = 0;
    const { isInterrupted, broken, simulatedMs } = await runReboots(planOf({ count: 3 }), {
      onMoment: () => (moments += 1),
      isInterrupted: () => moments >= 5,
    });
    expect([isInterrupted, broken]).toEqual([true, []]);
    expect(simulatedMs).toBe(20_000);
  }, 60_000);
});
