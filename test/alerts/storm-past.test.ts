/** What `levee report --storm --prometheus` asks a real Prometheus about the time of a storm. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { askStormPast } from "../../src/cli/decisions/report/storm/storm-past.ts";
import { KubeError } from "../../src/kube/client/api.ts";
import { RealPrometheus } from "./real-prometheus.ts";

const nowSeconds = Math.floor(Date.now() / 1_000);
/** Ten minutes, three hours ago. */
const fromSeconds = nowSeconds - 3 * 3_600;
const toSeconds = fromSeconds + 600;

let prometheus: RealPrometheus;

beforeAll(async () => {
  const isStorm = (at: number): boolean => at >= fromSeconds && at <= toSeconds;
  // The counters had other values before the storm, and go on after it.
  const counter = (before: number, during: number) => (at: number) => {
    if (at < fromSeconds + 60) return before;
    return before + (at > toSeconds + 600 ? during + 100 : during);
  };
  const families: readonly Family[] = [
    gauge('levee_waiting{node="n1",kind="attach",class="ordinary"}', (at) => (isStorm(at) ? 200 : 3)),
    gauge('levee_waiting{node="n2",kind="attach",class="ordinary"}', (at) => (isStorm(at) ? 19 : 0)),
    gauge('levee_waiting{node="n2",kind="detach",class="detach"}', () => 1_000),
    gauge('levee_memory_working_set_bytes{node="n1"}', (at) => (isStorm(at) ? 45 : 20) * 2 ** 20),
    gauge('levee_memory_working_set_bytes{node="n2"}', () => 21 * 2 ** 20),
    gauge('levee_memory_limit_bytes{node="n1"}', () => 50 * 2 ** 20),
    gauge('levee_memory_limit_bytes{node="n2"}', () => 50 * 2 ** 20),
    ["levee_memory_oom_kills", "counter", 'levee_memory_oom_kills_total{node="n1"}', counter(7, 2)],
    ["levee_admissions", "counter", admission("ordinary"), counter(5, 4)],
    ["levee_admissions", "counter", admission("detach"), counter(0, 50)],
    gauge(alert("MultusOOMLoop", "n1"), (at) => (isStorm(at) ? 1 : undefined)),
    gauge(alert("MultusOOMLoop", "n2"), (at) => (isStorm(at) ? 1 : undefined)),
    gauge(alert("TargetDown", "n1"), (at) => (at < fromSeconds - 3_600 ? 1 : undefined)),
    gauge(alert("Watchdog", "n1"), () => 1),
  ];
  prometheus = await RealPrometheus.start({}, historyOf(families));
  await prometheus.untilReady();
}, 120_000);

afterAll(() => prometheus.end());

type Family = readonly [name: string, type: string, series: string, valueAt: (at: number) => number | undefined];

function gauge(series: string, valueAt: Family[3]): Family {
  return [series.slice(0, series.indexOf("{")), "gauge", series, valueAt];
}

function admission(name: string): string {
  return `levee_admissions_total{node="n1",class="${name}",outcome="refused"}`;
}

function alert(name: string, node: string): string {
  return `ALERTS{alertname="${name}",alertstate="firing",node="${node}"}`;
}

function historyOf(families: readonly Family[]): readonly string[] {
  const byName = Map.groupBy(families, ([name, type]) => `# TYPE ${name} ${type}`);
  return [...byName].flatMap(([head, members]) => [
    head,
    ...members.flatMap(([, , series, valueAt]) => {
      const times = Array.from({ length: 6 * 120 }, (_, index) => nowSeconds - 6 * 3_600 + index * 30);
      return times.flatMap((at) => (valueAt(at) === undefined ? [] : [`${series} ${valueAt(at)} ${at}`]));
    }),
  ]);
}

/** The API server's service proxy, which passes the path on. */
const asking = {
  api: {
    call: async ({ path }: { readonly path: string }): Promise<string> => {
      const answer = await fetch(`${prometheus.url}${path.slice(path.indexOf("/proxy") + "/proxy".length)}`);
      if (answer.ok) return await answer.text();
      throw new KubeError("api-refused", await answer.text(), { status: answer.status });
    },
  } as unknown as Parameters<typeof askStormPast>[0]["api"],
  signal: new AbortController().signal,
};

const past = (fromMs: number, toMs: number): ReturnType<typeof askStormPast> =>
  askStormPast(asking, "mon/prom:9090", { fromMs, toMs });

test("askStormPast has the numbers of the storm alone: line, memory, kills, refusals, alerts", async () => {
  expect(await past(fromSeconds * 1_000, toSeconds * 1_000)).toEqual({
    value: { waitingMax: 219, memoryShareMax: 0.9, kills: 2, refused: 4, alerts: [["MultusOOMLoop", 2]] },
  });
});

test("askStormPast has no number of a time without samples", async () => {
  const longAgo = (nowSeconds - 86_400) * 1_000;
  expect(await past(longAgo, longAgo + 60_000)).toEqual({ value: { alerts: [] } });
});
