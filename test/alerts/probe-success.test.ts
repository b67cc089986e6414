/** What the guard's Verify asks a real Prometheus about probes; the exporter is a page of this test. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { systemClock } from "../../src/base/clock.ts";
import { probesProblem } from "../../src/guard/observe/ask-prometheus.ts";
import { until } from "./alertmanager.ts";
import { RealPrometheus } from "./real-prometheus.ts";

const site = "https://site.example";
const shop = "https://shop.example";
/** It failed during the whole day before this test. */
const old = "https://old.example";
const startedMs = Date.now();
/** What each probe says, by what it probes; one that is not here hangs until Prometheus gives up. */
const values = new Map<string, number>();
let exporter: ReturnType<typeof Bun.serve>;
let prometheus: RealPrometheus;

beforeAll(async () => {
  exporter = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const value = values.get(new URL(request.url).searchParams.get("target") ?? "");
      return value === undefined ? new Promise(() => undefined) : new Response(`probe_success ${value}\n`);
    },
  });
  prometheus = await RealPrometheus.start(config(), history());
}, 60_000);

afterAll(async () => {
  await prometheus.end();
  await exporter.stop(true);
});

/** As blackbox-exporter's page says it: the target is a parameter, and becomes the instance. */
function config(): object {
  return {
    global: { scrape_interval: "1s", scrape_timeout: "500ms" },
    scrape_configs: [
      {
        job_name: "blackbox",
        metrics_path: "/probe",
        static_configs: [{ targets: [site, shop, old] }],
        relabel_configs: [
          { source_labels: ["__address__"], target_label: "__param_target" },
          { source_labels: ["__param_target"], target_label: "instance" },
          { target_label: "__address__", replacement: new URL(exporter.url).host },
        ],
      },
    ],
  };
}

/** A sample every ten minutes from the day before. */
function history(): readonly string[] {
  const labels = `{instance="${old}",job="blackbox"}`;
  const firstSeconds = Math.floor(startedMs / 1_000) - 86_400 + 60;
  const lines = Array.from({ length: 144 }, (_, index) => `probe_success${labels} 0 ${firstSeconds + index * 600}`);
  return ["# TYPE probe_success gauge", ...lines];
}

function problem(sinceMs: number): Promise<string | undefined> {
  return probesProblem(systemClock, prometheus, sinceMs, { signal: new AbortController().signal });
}

/** What it says after a few scrapes: the last value is the one of now. */
async function untilSays(words: string | undefined, sinceMs = startedMs): Promise<void> {
  let said: string | undefined;
  await until(`the guard hears ${words ?? "nothing"}`, async () => {
    said = await problem(sinceMs);
    return said === words || undefined;
  }).catch((thrown: unknown) => {
    throw new Error(`the guard heard ${said ?? "nothing"}`, { cause: thrown });
  });
}

test("probesProblem takes neither a Prometheus that is away nor one without probes for success", async () => {
  const away = await probesProblem(systemClock, { url: "http://127.0.0.1:1" }, 0, {
    signal: new AbortController().signal,
  });
  expect(away).toBe("Failed to connect");
  await untilSays("it has no probe_success");
}, 60_000);

test("probesProblem is silent while every probe succeeds, and names one that fails", async () => {
  for (const target of [site, shop]) values.set(target, 1);
  await untilSays(undefined);
  values.set(shop, 0);
  await untilSays(`1 probe fails: ${shop}`);
  values.set(site, 0);
  await untilSays(`2 probes fail: ${shop}, ${site}`);
  values.set(site, 1);
  await untilSays(`1 probe fails: ${shop}`);
}, 60_000);

test("probesProblem names a probe that is stale: it failed, and then it hangs", async () => {
  values.delete(shop);
  await untilSays(`1 probe has no value any more: ${shop}`);
  values.set(shop, 1);
  await untilSays(undefined);
}, 60_000);

test("probesProblem leaves out a probe that failed during the whole day before the cause began", async () => {
  values.set(old, 0);
  // A day before that hour it was not there yet.
  const tooEarlyMs = startedMs - 3_600_000;
  await untilSays(`1 probe fails: ${old}`, tooEarlyMs);
  await untilSays(undefined);
  values.delete(old);
  await untilSays(`1 probe has no value any more: ${old}`, tooEarlyMs);
  await untilSays(undefined);
}, 60_000);
