import { beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import type { TextGetter } from "../../guard/observe/get-text.ts";
import { probesProblem } from "../../guard/observe/ask-prometheus.ts";
import { SimApi } from "../api/sim-api.ts";
import { SimTime } from "../time/sim-time.ts";
import { deploymentObject } from "./cluster-objects.ts";
import { prometheusUrl, SimPrometheus } from "./sim-prometheus.ts";

let time: SimTime;
let api: SimApi;
let prometheus: SimPrometheus;
let beganMs: number;

beforeEach(() => {
  time = new SimTime();
  api = new SimApi(time, () => undefined);
  prometheus = new SimPrometheus(time, api);
  beganMs = time.wallMs;
  prometheus.start();
});

/** What the guard makes of the answers to its own queries. */
async function heard(sinceMs = beganMs): Promise<string | undefined> {
  const getText: TextGetter = (_clock, { path }) => {
    const text = prometheus.answer(path);
    return text === undefined ? Promise.reject(new Error(`no answer to ${path}`)) : Promise.resolve(text);
  };
  const clock = { ...systemClock, wallMs: () => time.wallMs };
  return await probesProblem(clock, { url: prometheusUrl }, sinceMs, { signal: new AbortController().signal, getText });
}

async function pass(ms: number): Promise<void> {
  await time.run(time.nowMs + ms, () => false);
}

test("what failed during the whole day before the cause is no problem, and without a cause it is", async () => {
  expect(await heard()).toBeUndefined();
  expect(await heard(0)).toBe("1 probe fails: https://old.example");
});

test("a site that fails is heard of with the next scrape, and so is its recovery", async () => {
  await pass(1_000);
  prometheus.troubles.add("probe-fails");
  await pass(10_000);
  expect(await heard()).toBeUndefined();
  await pass(10_000);
  expect(await heard()).toBe("1 probe fails: https://site.example");
  prometheus.troubles.clear();
  expect(await heard()).toBe("1 probe fails: https://site.example");
  await pass(15_000);
  expect(await heard()).toBeUndefined();
});

test("a site whose probe hangs has no value any more", async () => {
  prometheus.troubles.add("probe-hangs");
  await pass(20_000);
  expect(await heard()).toBe("1 probe has no value any more: https://site.example");
  expect(await heard(0)).toContain("; 1 probe has no value any more: https://site.example");
});

test("nobody sees a site whose ingress has no pod", async () => {
  api.put("deployments", deploymentObject("kube-system", "traefik", 1) as Parameters<SimApi["put"]>[1]);
  await pass(20_000);
  expect(await heard()).toBe("1 probe fails: https://site.example");
});

test("no other query has an answer", () => {
  for (const query of ["up", "probe_success", "probe_success == 0 or vector(1)"])
    expect(prometheus.answer(`/api/v1/query?query=${encodeURIComponent(query)}`)).toBeUndefined();
});
