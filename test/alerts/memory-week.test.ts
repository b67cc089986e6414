/** What the guard asks a real Prometheus about a week of a CNI daemon's memory. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { raised } from "../../src/guard/decide/lower/calm.fixture.ts";
import type { Watched } from "../../src/guard/decide/lower/memory-calm.ts";
import { pastCalm } from "../../src/guard/decide/lower/past-calm.ts";
import type { MemoryQuestion } from "../../src/guard/facts/memory-past.ts";
import { askPast, askUses } from "../../src/guard/observe/ask-memory.ts";
import { readyPod, world } from "../../src/guard/world.fixture.ts";
import { memoryHistory, type PodWeek } from "./memory-week.ts";
import { RealPrometheus } from "./real-prometheus.ts";

const mebibyte = 2 ** 20;
const dayMs = 86_400_000;
const nowMs = Date.now();
const nowSeconds = Math.floor(nowMs / 1_000);
const ago = (hours: number): number => nowSeconds - hours * 3_600;
const calm = (seconds: number): number => (seconds < ago(100) ? 41.5 : 30) * mebibyte;
const none = (): number => 0;

/** By DaemonSet: its one pod. The storm was eight days ago. */
const weeks: Readonly<Record<string, Pick<PodWeek, "usedBytes" | "kills" | "restarts">>> = {
  calm: { usedBytes: calm, kills: none },
  states: { usedBytes: calm, restarts: none },
  long: { usedBytes: (at) => (at > ago(60) && at < ago(59) ? undefined : calm(at)), kills: none },
  short: { usedBytes: (at) => (at > ago(60) && at < ago(59.8) ? undefined : calm(at)), kills: none },
  young: { usedBytes: (at) => (at > ago(150) ? calm(at) : undefined), kills: none },
  ended: { usedBytes: (at) => (at < ago(1) ? calm(at) : undefined), kills: none },
  killed: { usedBytes: calm, kills: (at) => (at > ago(50) ? 1 : 0) },
  restarted: { usedBytes: calm, restarts: (at) => (at > ago(50) ? 4 : 3) },
  before: { usedBytes: calm, kills: (at) => (at > ago(180) ? 7 : 0), restarts: (at) => (at > ago(180) ? 7 : 0) },
  uncounted: { usedBytes: calm },
  full: { usedBytes: (at) => (at > ago(51) && at < ago(50) ? 800 * mebibyte : calm(at)), kills: none },
};

let prometheus: RealPrometheus;

beforeAll(async () => {
  const place = { namespace: "kube-system", container: "kube-multus" };
  const pods = Object.entries(weeks).map(([name, week]): PodWeek => ({ ...place, pod: `${name}-x1y2z`, ...week }));
  prometheus = await RealPrometheus.start({}, memoryHistory(pods, ago(192), nowSeconds - 60));
  await prometheus.untilReady();
}, 120_000);

afterAll(() => prometheus.end());

function question(daemonSet: string): MemoryQuestion {
  const place = { namespace: "kube-system", daemonSet, container: "kube-multus" };
  return { key: "k", limit: "1Gi", ...place, lengthMs: 7 * dayMs, isTried: false };
}

const clock = { ...systemClock, wallMs: () => nowMs };

function asking(url = prometheus.url): Parameters<typeof askPast>[0] {
  return { clock, prometheus: { url }, cluster: "", signal: new AbortController().signal };
}

/** How the guard sees the week of a DaemonSet with one pod. */
async function week(daemonSet: string): Promise<ReturnType<typeof pastCalm>> {
  const past = await askPast(asking(), question(daemonSet));
  const pods = [readyPod(`${daemonSet}-x1y2z`, { node: "n1", createdMs: nowMs - 8 * dayMs })];
  const limit = { limit: "1Gi", limitBytes: 1024 * mebibyte };
  const watched: Watched = {
    ...{ daemonSet: { ...raised, desired: 1 }, container: "kube-multus", ...limit },
    ...{ pods, views: [], uses: [] },
  };
  return pastCalm(watched, undefined, past, world({ nowMs }));
}

test.each(["calm", "states", "short", "before"])("askPast finds a whole week without pressure: %s", async (name) => {
  expect(await week(name)).toMatchObject({
    ...{ broken: "", peakBytes: 41.5 * mebibyte, peakNode: "n1", sinceMs: nowMs - 7 * dayMs, coveredMs: nowMs },
  });
});

test.each([
  ["long", /^Prometheus has no sample of long-x1y2z in [34] of 67[012] quarters of an hour since /u],
  ["young", /^Prometheus has no sample of young-x1y2z in 7\d of 67[012] quarters/u],
  ["ended", /^Prometheus has no sample of ended-x1y2z in [34] of 67[012] quarters/u],
  ["killed", /^by Prometheus, a process was killed for memory since \S+ in killed-x1y2z$/u],
  ["restarted", /^by Prometheus, a process was killed for memory since \S+ in restarted-x1y2z$/u],
  ["full", /^by Prometheus, full-x1y2z used more than 75 % of 1Gi since /u],
  ["uncounted", /^Prometheus has a counter of kills for 0 of 1 pods/u],
  ["absent", /^Prometheus has no container_memory_working_set_bytes of it$/u],
] as const)("askPast does not take a week for calm: %s", async (name, why) => {
  const { broken, peakBytes } = await week(name);
  expect(broken).toMatch(why);
  expect(peakBytes).toBe(0);
});

test("askPast keeps to the series of its own cluster, or without the label", async () => {
  const past = await askPast({ ...asking(), cluster: 'pr.d"|x' }, question("calm"));
  expect(past.peakPod).toBe("calm-x1y2z");
});

test("askUses tells the last sample of each pod, with its time", async () => {
  const [use, ...others] = await askUses(asking(), question("calm"));
  expect(others).toEqual([]);
  expect(use).toMatchObject({ namespace: "kube-system", pod: "calm-x1y2z", usedBytes: 30 * mebibyte });
  expect(use?.atMs).toBe((nowSeconds - 60) * 1_000);
  expect(await askUses(asking(), question("ended"))).toEqual([]);
});

test("askPast says why there is no answer", async () => {
  expect(await askPast(asking("http://127.0.0.1:1"), question("calm")).catch(String)).toContain("Failed to connect");
});
