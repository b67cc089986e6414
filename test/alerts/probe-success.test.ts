/** What the guard's Verify asks a real Prometheus about probes; the exporter is a page of this test. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "../../src/base/clock.ts";
import { probesProblem } from "../../src/guard/observe/ask-prometheus.ts";
import { freePort } from "../lab/free-port.ts";
import { until } from "./alertmanager.ts";

const site = "https://site.example";
const shop = "https://shop.example";
/** It failed during the whole day before this test. */
const old = "https://old.example";
const startedMs = Date.now();
/** What each probe says, by what it probes; one that is not here hangs until Prometheus gives up. */
const values = new Map<string, number>();
let exporter: ReturnType<typeof Bun.serve>;
let url: string;
let folder: string;
let end: () => Promise<void>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "levee-probes-"));
  exporter = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const value = values.get(new URL(request.url).searchParams.get("target") ?? "");
      return value === undefined ? new Promise(() => undefined) : new Response(`probe_success ${value}\n`);
    },
  });
  url = await startPrometheus();
}, 60_000);

afterAll(async () => {
  await end();
  await exporter.stop(true);
  await rm(folder, { recursive: true, force: true });
});

/** As blackbox-exporter's page says it: the target is a parameter, and becomes the instance. */
async function startPrometheus(): Promise<string> {
  const config = {
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
  await giveHistory();
  const file = join(folder, "prometheus.yml");
  // JSON is YAML.
  await writeFile(file, JSON.stringify(config));
  const port = await freePort();
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "tsdb")}`];
  const child = spawn("prometheus", [...args, `--web.listen-address=127.0.0.1:${port}`], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  return `http://127.0.0.1:${port}`;
}

/** A sample every ten minutes from the day before. */
async function giveHistory(): Promise<void> {
  const labels = `{instance="${old}",job="blackbox"}`;
  const firstSeconds = Math.floor(startedMs / 1_000) - 86_400 + 60;
  const lines = Array.from({ length: 144 }, (_, index) => `probe_success${labels} 0 ${firstSeconds + index * 600}`);
  const file = join(folder, "history");
  await writeFile(file, `${["# TYPE probe_success gauge", ...lines, "# EOF"].join("\n")}\n`);
  const args = ["tsdb", "create-blocks-from", "openmetrics", file, join(folder, "tsdb")];
  const { status, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`promtool failed: ${stderr}`);
}

function problem(sinceMs: number): Promise<string | undefined> {
  return probesProblem(systemClock, { url }, sinceMs, new AbortController().signal);
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
  const away = await probesProblem(systemClock, { url: "http://127.0.0.1:1" }, 0, new AbortController().signal);
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
