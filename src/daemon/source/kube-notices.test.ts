import { describe, expect, test } from "bun:test";
import type { OutboxHealth } from "../../kube/outbox/outbox.ts";
import { registerKubeMetrics } from "./kube-metrics.ts";
import { kubeNotices, type KubeParts } from "./kube-notices.ts";
import { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

const healthy: ReflectorHealth = {
  resource: "pods",
  objects: 3,
  isSynced: true,
  lists: 1,
  reconnects: 0,
  missedEvents: 0,
  lastEventAgeMs: 1_500,
  lastError: undefined,
  failingSinceMs: undefined,
  isUnreachable: false,
  isForbidden: false,
  isAbsent: false,
};
const idle: OutboxHealth = { waiting: 0, sending: 0, dropped: 0, awaySinceMs: undefined, refusal: undefined };
const moment = Date.UTC(2026, 0, 2, 3, 4, 5);

function parts(
  pods: Partial<ReflectorHealth>,
  status: Partial<OutboxHealth> = {},
  others: Partial<ReflectorHealth> = {},
): KubeParts {
  const networks = { ...healthy, resource: "network-attachment-definitions", ...others };
  return {
    server: "https://127.0.0.1:6443",
    cluster: { health: () => ({ pods: { ...healthy, ...pods }, networks }), synced: () => true },
    statusTeller: { health: () => ({ ...idle, ...status }) },
    eventTeller: { health: () => idle },
  };
}

const awayPods = { failingSinceMs: moment, isUnreachable: true, lastError: "connect ECONNREFUSED" };

describe("kubeNotices", () => {
  test("is silent when all is well", () => {
    expect(kubeNotices(parts({}))).toEqual([]);
    expect(kubeNotices(parts({ isSynced: false }))).toEqual([]);
    // One working watch is an answer.
    expect(kubeNotices(parts(awayPods))).toEqual([]);
  });

  test.each([
    [
      parts(awayPods, {}, awayPods),
      "The API server https://127.0.0.1:6443 has not answered since 2026-01-02T03:04:05Z (connect ECONNREFUSED); known pods and networks are still served",
    ],
    [
      parts({ failingSinceMs: moment, lastError: "answered 403" }),
      "pods cannot be followed since 2026-01-02T03:04:05Z: answered 403",
    ],
    [
      parts({ isSynced: false, failingSinceMs: moment, isUnreachable: true }),
      "The first list of pods is not complete; missing objects are read one by one",
    ],
    [
      parts({ failingSinceMs: moment, isAbsent: true, isSynced: false }),
      "The cluster has no pods: install their CRD before pods ask for more than one network",
    ],
    [
      parts({}, { waiting: 2, awaySinceMs: moment }),
      "2 network-status annotations have waited for the API server since 2026-01-02T03:04:05Z",
    ],
    [parts({}, { refusal: "answered 403" }), "The API server refuses some network-status annotations: answered 403"],
  ])("says what a person should know (%#)", (of, expected) => {
    expect(kubeNotices(of)).toEqual([expected]);
  });
});

test("registerKubeMetrics shows how the copy follows the server, and what waits for it", () => {
  const metrics = new MetricsRegistry();
  const pods = { ...awayPods, lastEventAgeMs: undefined };
  registerKubeMetrics(metrics, parts(pods, { waiting: 2, dropped: 1 }, awayPods));
  const page = metrics.render();
  for (const line of [
    "levee_api_up 0",
    'levee_view_synced{resource="pods"} 1',
    'levee_view_last_event_age_seconds{resource="network-attachment-definitions"} 1.5',
    'levee_view_lists_total{resource="pods"} 1',
    'levee_outbox_waiting{kind="status"} 2',
    'levee_outbox_dropped_total{kind="status"} 1',
    'levee_outbox_waiting{kind="event"} 0',
  ])
    expect(page).toContain(`\n${line}\n`);
  expect(page).not.toContain('levee_view_last_event_age_seconds{resource="pods"}');
});
