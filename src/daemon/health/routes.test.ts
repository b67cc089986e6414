import { describe, expect, test } from "bun:test";
import { systemClock, type Clock } from "../../base/clock.ts";
import { silentLogger, type Logger } from "../../base/log.ts";
import { failed, passed, type Check } from "../../readiness/check.ts";
import { CallMetrics } from "../metrics/call-metrics.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import { answerHttp } from "./routes.ts";
import { NodeChecks } from "./node-checks.ts";

function setUp(changes: { readonly stuckMs?: number; readonly checks?: () => readonly Check[] } = {}): {
  readonly get: (path: string, serves?: "health" | "all") => ReturnType<typeof answerHttp>;
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
  };
  const journal = {
    unwritable: undefined,
    unwritten: 0,
    stuckMs: changes.stuckMs ?? 0,
    quarantined: 0,
    leaks: 0,
    attachments: 0,
  };
  return {
    metrics,
    errors,
    get: (target, serves = "all") => {
      const [path = "", query = ""] = target.split("?");
      return answerHttp(
        { method: "GET", path, query: new Set([query]) },
        { ...options, journal: () => journal, serves },
      );
    },
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
