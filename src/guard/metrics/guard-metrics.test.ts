import { expect, test } from "bun:test";
import { silentLogger } from "../../base/log.ts";
import type { Decision, DecisionPhase, DecisionPurpose } from "../decision/decision.ts";
import type { EventFacts } from "../facts/world.ts";
import { guardMetrics, type GuardState } from "./guard-metrics.ts";
import { outagePods } from "../world.fixture.ts";
import { openMetricsPort } from "./metrics-port.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

const nowMs = Date.parse("2026-05-10T18:00:00Z");

function decision(since: string, phase?: DecisionPhase, purpose: DecisionPurpose = "Recover"): Decision {
  const spec = { cause: "OwnerlessPodAvalanche", purpose };
  const status = phase === undefined ? {} : { status: { phase, since } };
  const metadata = { name: "q", namespace: "levee-system", creationTimestamp: since };
  return { metadata, spec, ...status } as unknown as Decision; // only what is read
}

function health(resource: string, more: Partial<ReflectorHealth> = {}): ReflectorHealth {
  return { resource, objects: 3, isAbsent: false, lastEventAgeMs: 2_500, ...more } as ReflectorHealth; // only what is read
}

const quiet: GuardState = {
  nowMs,
  isLeader: false,
  runningMs: 90_000,
  refusedProposals: 0,
  health: [],
  decisions: [],
  events: [],
  nodes: [],
  pods: [],
  alerts: [{ name: "TargetDown", labels: {}, startsMs: nowMs }],
  nodeViews: [],
};

test("guardMetrics shows the leader, and every phase from the start", () => {
  const text = guardMetrics(quiet);
  expect(text).toContain("# TYPE levee_guard_leader gauge\nlevee_guard_leader 0\n");
  expect(text).toContain('levee_guard_oldest_decision_age_seconds{phase="Proposed"} 0\n');
  expect(text).toContain('levee_guard_decisions{phase="Paused"} 0\n');
  expect(guardMetrics({ ...quiet, isLeader: true })).toContain("levee_guard_leader 1\n");
  expect(text).toContain("levee_guard_alerts_seen 1\n");
  expect(text).toContain("levee_guard_node_views 0\n");
  expect(text).toContain("# TYPE levee_guard_proposals_refused_total counter\nlevee_guard_proposals_refused_total 0\n");
});

test("guardMetrics rings for no proposal that can wait, and for one that was approved and paused", () => {
  const since = "2026-05-10T17:00:00Z";
  const waits = guardMetrics({ ...quiet, decisions: [decision(since, "Proposed", "LowerMemory")] });
  expect(waits).toContain('levee_guard_decisions{phase="Proposed"} 1\n');
  expect(waits).toContain('levee_guard_oldest_decision_age_seconds{phase="Proposed"} 0\n');
  const paused = guardMetrics({ ...quiet, decisions: [decision(since, "Paused", "LowerMemory")] });
  expect(paused).toContain('levee_guard_oldest_decision_age_seconds{phase="Paused"} 3600\n');
});

test("guardMetrics shows the age of the oldest Decision in each phase, also of one without a status", () => {
  const decisions = [
    decision("2026-05-10T17:50:00Z"),
    decision("2026-05-10T17:59:00Z", "Proposed"),
    decision("2026-05-10T17:58:00Z", "Paused"),
    decision("nonsense", "Running"),
    // A clock that is ahead.
    decision("2026-05-10T18:05:00Z", "Approved"),
  ];
  const text = guardMetrics({ ...quiet, decisions });
  for (const line of [
    'levee_guard_decisions{phase="Proposed"} 2',
    'levee_guard_open_decisions{cause="OwnerlessPodAvalanche"} 5',
    'levee_guard_open_decisions{cause="RebootBacklog"} 0',
    'levee_guard_oldest_decision_age_seconds{phase="Proposed"} 600',
    'levee_guard_oldest_decision_age_seconds{phase="Paused"} 120',
    'levee_guard_oldest_decision_age_seconds{phase="Running"} 0',
    'levee_guard_oldest_decision_age_seconds{phase="Approved"} 0',
  ])
    expect(text).toContain(`${line}\n`);
});

test("guardMetrics shows namespaces whose stuck pods have too many shapes", () => {
  const boundMs = nowMs - 600_000;
  const pods = outagePods(40, { boundMs }).map((pod, index) => ({ ...pod, shape: `shape ${index}` }));
  expect(guardMetrics({ ...quiet, pods })).toContain('levee_guard_scattered_pods{namespace="fc-desktop"} 40\n');
  expect(guardMetrics({ ...quiet, pods: outagePods(40, { boundMs }) })).not.toContain("scattered_pods{");
});

test("guardMetrics shows the age of present resources, counted from the start when never heard of", () => {
  const seen = [
    health("pods"),
    health("nodes", { lastEventAgeMs: undefined }),
    health("applications", { isAbsent: true }),
  ];
  const text = guardMetrics({ ...quiet, health: seen });
  expect(text).toContain('levee_guard_view_last_event_age_seconds{resource="pods"} 2.5\n');
  expect(text).toContain('levee_guard_view_objects{resource="nodes"} 3\n');
  expect(text).toContain('levee_guard_view_last_event_age_seconds{resource="nodes"} 90\n');
  expect(text).not.toContain("applications");
});

test("guardMetrics counts pods whose sandbox's name is taken, on nodes that exist and lately", () => {
  const event = (podUid: string, node: string, agoMs: number, isNameReserved = true): EventFacts =>
    ({ podUid, node, lastMs: nowMs - agoMs, ...(isNameReserved ? { isNameReserved } : {}) }) as EventFacts; // only what is read
  const events = [
    event("u1", "n1", 1_000),
    event("u1", "n1", 2_000),
    event("u2", "n1", 3_000),
    event("u3", "n1", 601_000),
    event("u4", "n1", 1_000, false),
    event("u5", 'forged"} 1', 1_000),
  ];
  const text = guardMetrics({ ...quiet, events, nodes: [{ name: "n1" }, { name: "n2" }] });
  expect(text).toContain('gauge\nlevee_guard_stale_sandbox_reservations{node="n1"} 2\n');
  expect(text).not.toMatch(/forged|n2/u);
});

test("openMetricsPort answers GET on three paths, and a taken port does not stop the guard", async () => {
  let isReady = false;
  using open = openMetricsPort(0, { metrics: () => guardMetrics(quiet), isReady: () => isReady }, silentLogger);
  const port = (await open.port) ?? 0;
  const get = (path: string, method = "GET"): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`, { method });
  expect(await (await get("/metrics")).text()).toContain("levee_guard_leader 0\n");
  expect(await (await get("/healthz")).text()).toBe("ok\n");
  expect((await get("/readyz")).status).toBe(503);
  isReady = true;
  expect((await get("/readyz")).status).toBe(200);
  expect((await get("/other")).status).toBe(404);
  expect((await get("/metrics", "POST")).status).toBe(404);
  using second = openMetricsPort(port, { metrics: () => "", isReady: () => true }, silentLogger);
  expect(await second.port).toBeUndefined();
});
