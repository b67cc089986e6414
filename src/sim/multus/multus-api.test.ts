import { describe, expect, test } from "bun:test";
import { simStormPlan } from "../storm/sim-storm-plan.fixture.ts";
import { runSimStorm } from "../storm/run-sim-storm.ts";

const kill = { node: "node-1", fault: { kind: "kill-daemon" as const, atMs: 60_000 } };

describe("the requests of Multus to the API server", () => {
  test("are a GET and a PUT for each ADD, and an event for each interface; after a start two lists and watches", async () => {
    const plan = simStormPlan({ impl: "multus-4.2.2", pods: 8, faults: [kill], criticalWithinMs: 60_000 });
    const late = { ...plan.pods[0], name: "late", atMs: 70_000 } as (typeof plan.pods)[number];
    const { api, moments, broken } = await runSimStorm({ ...plan, pods: [...plan.pods, late] });
    expect(broken).toEqual([]);
    expect(api).toMatchObject({ lists: 2, watches: 2, gets: 11 });
    // The events of the last pod may still be on their way.
    expect(api.writes).toBeWithin(11 + 20, 11 + 22 + 1);
    expect(moments.at(-1)?.requests).toBe(api.lists + api.watches + api.gets + api.writes);
  });

  test("are at most 50 in a second after the first burst, which is what a large storm then waits for", async () => {
    const limits = { limitBytes: 2 ** 30, cpuMillis: undefined };
    const { api, nodes } = await runSimStorm(simStormPlan({ impl: "multus-4.2.2", pods: 219, limits }));
    expect(api.perSecondMax).toBeLessThanOrEqual(100);
    expect(nodes[0]?.tookMs).toBeGreaterThan((1_000 * (2 * 219 - 50)) / 50);
  });

  test("fail after a minute without an API server, and the kubelet tries again", async () => {
    const away = { node: "node-1", fault: { kind: "api-away" as const, atMs: 0, forMs: 90_000 } };
    const { nodes } = await runSimStorm(simStormPlan({ impl: "multus-4.2.2", pods: 4, faults: [away] }));
    expect(nodes[0]).toMatchObject({ attached: 6, refusals: 6, leaks: 0 });
  });
});
