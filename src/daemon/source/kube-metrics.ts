import { awaySinceMs } from "./kube-view.ts";
import type { KubeParts } from "./kube-notices.ts";
import type { MetricsRegistry, Sample } from "../metrics/metrics-registry.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

/** Registers metrics about the local copy and about the outboxes to the API server. */
export function registerKubeMetrics(metrics: MetricsRegistry, parts: KubeParts): void {
  const { cluster } = parts;
  metrics.gauge("levee_api_up", "Whether the API server answers", () => (isUp(parts) ? 1 : 0));
  perResource("levee_view_synced", "Whether a complete list has been taken", ({ isSynced }) => (isSynced ? 1 : 0));
  perResource(
    "levee_view_last_event_age_seconds",
    "Time since the daemon last heard of the resource",
    ({ lastEventAgeMs }) => (lastEventAgeMs === undefined ? undefined : lastEventAgeMs / 1_000),
  );
  perResource("levee_view_objects", "Objects in the local copy", ({ objects }) => objects);
  perResource("levee_view_lists_total", "Complete lists taken", ({ lists }) => lists, "counted");
  perResource("levee_view_reconnects_total", "Watches opened again after an error", (one) => one.reconnects, "counted");
  perResource(
    "levee_view_missed_events_total",
    "Differences that a list found and no event had shown",
    ({ missedEvents }) => missedEvents,
    "counted",
  );
  metrics.gauge("levee_outbox_waiting", "Entries that wait for the API server", () => perKind(parts, "waiting"));
  metrics.counted("levee_outbox_dropped_total", "Entries that were dropped because too many waited", () =>
    perKind(parts, "dropped"),
  );

  function perResource(
    name: string,
    help: string,
    read: (health: ReflectorHealth) => number | undefined,
    kind: "gauge" | "counted" = "gauge",
  ): void {
    metrics[kind](name, help, () => {
      const { pods, networks } = cluster.health();
      return [pods, networks].flatMap((health): Sample[] => {
        const value = read(health);
        return value === undefined ? [] : [{ labels: { resource: health.resource }, value }];
      });
    });
  }
}

function isUp({ cluster }: KubeParts): boolean {
  const { pods, networks } = cluster.health();
  const isHeard = pods.lastEventAgeMs !== undefined || networks.lastEventAgeMs !== undefined;
  return isHeard && awaySinceMs(cluster) === undefined;
}

function perKind(
  { statusTeller, eventTeller, claimTeller }: KubeParts,
  what: "waiting" | "dropped",
): readonly Sample[] {
  return [
    { labels: { kind: "status" }, value: statusTeller.health()[what] },
    { labels: { kind: "event" }, value: eventTeller.health()[what] },
    ...(claimTeller === undefined ? [] : [{ labels: { kind: "claim" }, value: claimTeller.health()[what] }]),
  ];
}
