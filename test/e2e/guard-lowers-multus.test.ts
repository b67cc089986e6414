/** The way back from a raise of Multus itself, which tells nothing: a real API server, and a week in a real Prometheus. */
import { afterEach, expect, test } from "bun:test";
import { memoryHistory, type PodWeek } from "../alerts/memory-week.ts";
import { RealPrometheus } from "../alerts/real-prometheus.ts";
import type { ActingGuard } from "./guard/guard-acting.ts";
import { daemonNodes, type BrokenCni } from "./guard/guard-repairing.ts";
import { raise, repairTests } from "./guard/repair-bench.ts";
import type { PolicyServer } from "./policy-server.ts";
import { until } from "./until.ts";

const mebibyte = 2 ** 20;
const hourMs = 3_600_000;
/** Objects have the time of the server, so the guard and Prometheus are ahead of it by the week that they have seen. */
const aheadMs = 7.1 * 24 * hourMs;

let server: PolicyServer;
let guard: ActingGuard;
let cni: BrokenCni;
let prometheus: RealPrometheus | undefined;

const { group } = repairTests("guard-lowers-multus", (bench) => {
  ({ server, guard, cni } = bench);
});

afterEach(async () => {
  await prometheus?.end();
  prometheus = undefined;
});

/** Three pods that use 40Mi for a week, from half an hour before now, and on for some minutes of this test. */
async function startPrometheus(first: Partial<PodWeek> = {}): Promise<string> {
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const pods = daemonNodes.map((node, index): PodWeek => ({
    ...{ namespace: "kube-system", pod: `kube-multus-ds-${node}`, container: "kube-multus" },
    ...{ usedBytes: () => 40 * mebibyte, kills: () => 0, ...(index === 0 ? first : {}) },
  }));
  prometheus = await RealPrometheus.start(
    {},
    memoryHistory(pods, nowSeconds - 1_800, nowSeconds + aheadMs / 1_000 + 1_200),
  );
  await prometheus.untilReady();
  return prometheus.url;
}

/** When so many hours of the week have passed, in seconds. */
function after(hours: number): number {
  return (Date.now() + hours * hourMs) / 1_000;
}

/** What the guard has written down of the week, after Prometheus was asked. */
async function weekText(url: string): Promise<string> {
  guard.aheadMs = aheadMs;
  await guard.calm.look(guard.facts, guard.term);
  guard.askPrometheus(url);
  await until("Prometheus was asked", () => guard.facts.world().memoryPasts?.[0]);
  await guard.calm.look(guard.facts, guard.term);
  return server.must(["-n", "levee-system", "get", "configmap", "levee-guard", "-o", "jsonpath={.data.memory-calm}"]);
}

group("the guard goes back on a raise of Multus", () => {
  test("after a week that Prometheus has seen, with the number, and Prometheus watches the lower one", async () => {
    await raise({ server, guard, cni }, "week-1");
    expect(await weekText(await startPrometheus())).toContain('"isOfPrometheus":true');
    expect((await guard.round()).created).toEqual(["lower-kube-system-1"]);
    const { spec } = guard.find("lower-kube-system-1");
    expect(spec.steps.map(({ action }) => action)).toEqual(["HoldArgoApp", "SetMemoryLimit", "Verify"]);
    expect(spec.notes.join("\n")).toContain("by Prometheus, is 40Mi");
    expect(spec.notes.join("\n")).toContain("40Mi × 1.5 = 60Mi");
    expect(cni.limit()).toBe("256Mi");
    expect(await guard.carryOut(await cni.approve("lower-kube-system-1"))).toBe("Succeeded");
    expect(cni.limit()).toBe("64Mi");
    expect(cni.mark().split(" ").at(-1)).toBe("40Mi");
  }, 240_000);

  test.each([
    ["a gap", { usedBytes: (at: number) => (at > after(50) && at < after(51) ? undefined : mebibyte) }, "no sample of"],
    ["a kill", { kills: (at: number) => (at > after(50) ? 1 : 0) }, "was killed for memory since"],
    ["pressure", { usedBytes: (at: number) => (at > after(50) ? 250 : 40) * mebibyte }, "used more than 75 % of 256Mi"],
  ] as const)(
    "not with %s in the week",
    async (what, first, words) => {
      await raise({ server, guard, cni }, `week-${what.slice(2, 5).trim()}`);
      expect(await weekText(await startPrometheus(first))).toContain(words);
      expect((await guard.round()).created).toEqual([]);
      expect(cni.limit()).toBe("256Mi");
    },
    240_000,
  );

  test("not while Prometheus is away, nor without one", async () => {
    await raise({ server, guard, cni }, "week-5");
    expect(await weekText("http://127.0.0.1:1")).toContain("Prometheus cannot be asked: Failed to connect");
    expect((await guard.round()).created).toEqual([]);
  }, 240_000);
});
