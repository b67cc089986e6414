import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";
import type { ConsoleSource } from "../../wire/console-view.ts";
import type { AlertsSeen } from "../view/alert-sums.ts";
import type { ClusterCopy } from "./cluster-copy.ts";
import type { DaemonAsker } from "./daemon-asker.ts";

export type AlertsNow = AlertsSeen & { readonly asOfMs?: number };

interface SourceFacts {
  readonly copy: Pick<ClusterCopy, "health" | "hasDaemons">;
  readonly asker: Pick<DaemonAsker, "all" | "heardMs">;
  readonly alerts: AlertsNow;
  readonly nowMs: number;
}

export function clusterSources({ copy, asker, alerts, nowMs }: SourceFacts): readonly ConsoleSource[] {
  return [
    ...followedSources(copy.health(), nowMs),
    daemonSource(asker, copy.hasDaemons(), nowMs),
    "why" in alerts
      ? { name: "alerts", state: "absent", asOfMs: nowMs, why: alerts.why }
      : { name: "alerts", state: "live", asOfMs: alerts.asOfMs ?? nowMs, why: "" },
  ];
}

/** Kinds that a cluster need not have. */
const optional: ReadonlySet<string> = new Set(["rebootgates", "network-attachment-definitions", "leases"]);

/** Each watch has a bookmark about once a minute, and there are several. */
const silenceMsMax = 75_000;

/** One server tells of all kinds: when none of them was heard of, the connection is dead, however open it looks. */
function followedSources(all: readonly ReflectorHealth[], nowMs: number): readonly ConsoleSource[] {
  const sources = all.map((health) => sourceOf(health, nowMs));
  const ages = all.flatMap(({ lastEventAgeMs }) => lastEventAgeMs ?? []);
  const ageMs = Math.min(...ages);
  if (ages.length === 0 || ageMs < silenceMsMax) return sources;
  const asOfMs = Math.round(nowMs - ageMs);
  const why = `nothing was heard of the API server for ${Math.round(ageMs / 1_000)} s`;
  return sources.map((source) => (source.state === "live" ? { ...source, state: "stale", asOfMs, why } : source));
}

/** How fresh the copy of one kind is. While its watch is open, it is as fresh as now. */
function sourceOf(health: ReflectorHealth, nowMs: number): ConsoleSource {
  const { resource: name, isSynced, isAbsent, isForbidden, lastError, lastEventAgeMs } = health;
  const asOfMs = lastEventAgeMs === undefined ? 0 : Math.round(nowMs - lastEventAgeMs);
  if (isAbsent) {
    const why = optional.has(name) ? "" : "the cluster has no such kind: kubectl apply -f crds.yaml of the release";
    return { name, state: "absent", asOfMs: nowMs, why };
  }
  if (lastError === undefined)
    return isSynced ? { name, state: "live", asOfMs: nowMs, why: "" } : { name, state: "starting", asOfMs: 0, why: "" };
  // Facts that were read once are shown, however old; a viewer without the right never had any.
  const state = isSynced ? "stale" : isForbidden ? "refused" : "starting";
  return { name, state, asOfMs, why: lastError };
}

function daemonSource(asker: SourceFacts["asker"], hasDaemons: boolean, nowMs: number): ConsoleSource {
  const { heardMs } = asker;
  const all = [...asker.all().values()];
  const silent = all.filter(({ silence }) => silence !== "");
  const name = "daemons";
  const why = silent.length === 0 ? "" : `${silent.length} of ${all.length} do not answer: ${silent[0]?.silence ?? ""}`;
  if (all.length === 0) return { name, state: hasDaemons ? "starting" : "absent", asOfMs: heardMs, why };
  if (silent.length < all.length) return { name, state: "live", asOfMs: nowMs, why };
  return { name, state: heardMs > 0 ? "stale" : "refused", asOfMs: heardMs, why };
}
