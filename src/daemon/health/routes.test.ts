import { describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import { silentLogger, type Logger } from "../../base/log.ts";
import { failed, passed, type Check } from "../../readiness/check.ts";
import { CallMetrics } from "../metrics/call-metrics.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { HttpAnswer } from "../metrics/http-exchange.ts";
import { answerHttp, type RouteOptions } from "./routes.ts";
import { NodeChecks } from "./node-checks.ts";

interface Changes {
  readonly stuckMs?: number;
  readonly checks?: () => readonly Check[];
  readonly story?: RouteOptions["story"];
  readonly dryRun?: RouteOptions["dryRun"];
  readonly storms?: RouteOptions["storms"];
}

function setUp(changes: Changes = {}): {
  readonly get: (path: string, serves?: "health" | "all") => HttpAnswer;
  readonly getLater: (path: string, serves?: "health" | "all") => Promise<HttpAnswer>;
  readonly metrics: MetricsRegistry;
  readonly errors: unknown[];
} {
  const metrics = new MetricsRegistry();
  const checks = new NodeChecks();
  checks.add(changes.checks ?? (() => [passed("view", "3 pods")]));
  const errors: unknown[] = [];
  const options = {
    metrics,
    checks,
    measures: new CallMetrics(metrics),
    logger: { ...silentLogger, error: (_what: string, fields: unknown) => void errors.push(fields) },
    node: () => ({}),
    story: changes.story ?? (() => Promise.resolve(undefined)),
    dryRun: changes.dryRun ?? (() => Promise.resolve(undefined)),
    storms: changes.storms ?? (() => Promise.resolve({ sinceMs: 0, storms: [] })),
  };
  const journal = {
    unwritable: undefined,
    unwritten: 0,
    stuckMs: changes.stuckMs ?? 0,
    quarantined: 0,
    leaks: 0,
    attachments: 0,
  };
  const get = (target: string, serves: "health" | "all" = "all"): ReturnType<typeof answerHttp> => {
    const [path = "", query = ""] = target.split("?");
    return answerHttp(
      { method: "GET", path, query: new Set(query.split("&")) },
      { ...options, journal: () => journal, serves },
    );
  };
  return {
    metrics,
    errors,
    get: (target, serves) => get(target, serves) as HttpAnswer, // all but /podz and /stormz answer at once
    getLater: async (target, serves) => await get(target, serves),
  };
}

describe("answerHttp", () => {
  test("/healthz is 200 unless a journal write is stuck", () => {
    expect(setUp().get("/healthz")).toMatchObject({ status: 200, body: "ok" });
    expect(setUp({ stuckMs: 119_000 }).get("/livez").status).toBe(200);
    expect(setUp({ stuckMs: 150_000 }).get("/healthz")).toMatchObject({
      status: 503,
      body: "a journal write has been running for 150 s\n",
    });
  });

  test("/readyz is 503 with every check when one fails", () => {
    const { get } = setUp({ checks: () => [passed("view", ""), failed("api", "away", "")] });
    expect(get("/readyz")).toMatchObject({ status: 503, body: expect.stringContaining("[-]api failed: away\n") });
    expect(setUp().get("/readyz?verbose").body).toBe("[+]view ok\nreadyz check passed\n");
  });

  test("the health port serves only health, and names of Object.prototype are not paths", () => {
    const { get, metrics } = setUp();
    expect(get("/metrics", "health").status).toBe(404);
    expect(get("/__proto__").status).toBe(404);
    expect(get("/constructor").status).toBe(404);
    expect(get("/metrics").body).toContain("levee_calls_total");
    const text = metrics.render();
    expect(text).toContain('multus_server_request_total{handler="NotFound",code="404",method="get"} 3\n');
    expect(text).toContain('multus_server_request_total{handler="/metrics",code="200",method="get"} 1\n');
  });

  test("/loadz serves the load alone, with the same numbers, and not on the health port", () => {
    const { get, metrics } = setUp();
    metrics.gauge("levee_waiting", "Waits", () => [{ labels: { kind: "attach" }, value: 3 }]);
    metrics.gauge("levee_node_reboot_required", "Mark", () => [{ labels: { node: "n1" }, value: 1 }]);
    const head = "# HELP levee_waiting Waits\n# TYPE levee_waiting gauge\n";
    const mark = "# HELP levee_node_reboot_required Mark\n# TYPE levee_node_reboot_required gauge\n";
    expect(get("/loadz").body).toBe(
      `${head}levee_waiting{kind="attach"} 3\n${mark}levee_node_reboot_required{node="n1"} 1\n`,
    );
    expect(get("/loadz", "health").status).toBe(404);
  });

  test("a gauge that throws gives 500 and a line in the log", () => {
    const { get, metrics, errors } = setUp();
    metrics.gauge("levee_bad", "Bad", () => {
      throw new Error("a defect");
    });
    expect(get("/metrics").status).toBe(500);
    expect(errors).toEqual([{ path: "/metrics", reason: "Cannot answer: a defect" }]);
  });
});

describe("answerHttp about a pod", () => {
  const timeline = { namespace: "shop", name: "web-0", entries: [] };

  test("/podz tells the story of the pod that the path names, and not on the health port", async () => {
    const asked: object[] = [];
    const { getLater, metrics } = setUp({
      story: (pod) => {
        asked.push(pod);
        return Promise.resolve({ timeline, attachments: [] });
      },
    });
    const answer = await getLater("/podz/shop/web-0/4b1f-7");
    expect(answer).toMatchObject({ status: 200, contentType: "application/json" });
    expect(JSON.parse(answer.body)).toEqual({ timeline, attachments: [] });
    expect(asked).toEqual([{ namespace: "shop", name: "web-0", uid: "4b1f-7" }]);
    expect((await getLater("/podz/shop/web-0/4b1f-7", "health")).status).toBe(404);
    for (const path of ["/podz", "/podz/shop/web-0", "/podz/shop/../x", "/podz/a/b/c/d", "/podz/shop/%2e%2e/u"])
      expect((await getLater(path)).status).toBe(404);
    expect(asked).toHaveLength(1);
    expect(metrics.render()).toContain('{handler="/podz",code="200",method="get"} 1\n');
  });

  test("/dryrunz is 200 for a request of the cluster, 404 for none, 503 while the node is busy, and not on the health port", async () => {
    const path = "/dryrunz/shop/check-x7";
    const answer = { id: "shop/check-x7", network: "shop/lan", state: "running", step: "look" } as const;
    const running = { ...answer, reason: "", remedy: "", addresses: [], tookMs: 0 };
    const asked: string[] = [];
    const known = setUp({
      dryRun: (namespace, name) => {
        asked.push(`${namespace}/${name}`);
        return Promise.resolve(running);
      },
    });
    expect(JSON.parse((await known.getLater(path)).body)).toEqual(running);
    expect((await known.getLater(path, "health")).status).toBe(404);
    for (const other of ["/dryrunz", "/dryrunz/shop", "/dryrunz/shop/../x", "/dryrunz/a/b/c"])
      expect((await known.getLater(other)).status).toBe(404);
    expect(asked).toEqual(["shop/check-x7"]);
    expect((await setUp().getLater(path)).status).toBe(404);
    const busy = setUp({ dryRun: () => Promise.reject(new LeveeError("try-later", "another one runs")) });
    expect(await busy.getLater(path)).toMatchObject({ status: 503, body: "another one runs\n" });
  });

  test("/networkz has a word on each network that is asked for, and on nothing that is no name", () => {
    const { get } = setUp();
    const { body } = get("/networkz?shop/lan&shop/dmz&../etc&%00");
    const { networks } = JSON.parse(body) as { networks: readonly { network: string }[] };
    expect(networks.map(({ network }) => network)).toEqual(["shop/lan", "shop/dmz"]);
    expect(networks[0]).toEqual({ network: "shop/lan", state: "unknown", reasons: [], mark: "" } as never);
  });

  test("/podz is 404 for a stranger, 503 when too many ask, 500 with a line in the log for a defect", async () => {
    const path = "/podz/shop/web-0/u";
    expect((await setUp().getLater(path)).status).toBe(404);
    expect((await setUp({ story: () => Promise.resolve("busy") }).getLater(path)).status).toBe(503);
    const { getLater, errors } = setUp({ story: () => Promise.reject(new Error("a defect")) });
    expect((await getLater(path)).status).toBe(500);
    expect(errors).toEqual([{ path: "/podz", reason: "Cannot answer: a defect" }]);
  });
});

test("/stormz tells the storms of the node, but not on the health port, and not while it rests", async () => {
  const { getLater, metrics } = setUp();
  expect(await getLater("/stormz")).toMatchObject({ status: 200, body: '{"sinceMs":0,"storms":[]}\n' });
  expect((await getLater("/stormz", "health")).status).toBe(404);
  expect((await getLater("/stormz/x")).status).toBe(404);
  expect(metrics.render()).toContain('{handler="/stormz",code="200",method="get"} 1\n');
  const resting = await setUp({ storms: () => Promise.resolve("busy") }).getLater("/stormz");
  expect(resting).toMatchObject({ status: 503, body: "too many ask at once\n" });
});

test("NodeChecks logs each change once", () => {
  let check = passed("api", "answers");
  let tick: () => void = () => undefined;
  const said: string[] = [];
  const logger: Logger = {
    debug: () => undefined,
    info: (what) => said.push(what),
    warn: (what) => said.push(what),
    error: (what) => said.push(what),
  };
  const clock: Clock = {
    ...systemClock,
    every: (_ms, callback) => {
      tick = callback;
      return () => undefined;
    },
  };
  const checks = new NodeChecks();
  checks.add(() => [check]);
  checks.watch(clock, logger);
  tick();
  check = failed("api", "away", "");
  tick();
  tick();
  check = passed("api", "answers");
  tick();
  expect(said).toEqual(["A check of the node fails", "A check of the node passes again"]);
});
