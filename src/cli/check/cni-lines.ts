import { memoryBytes, memoryText } from "../../guard/facts/memory-quantity.ts";
import type { ClusterPod } from "../../guard/facts/cluster-pod.ts";
import type { DaemonSetFacts } from "../../guard/facts/world.ts";
import { isLeveeDaemon, partText } from "../cluster/cni-daemon-set.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { metricOf } from "../../wire/metric-lines.ts";
import { valueOr } from "../cluster/seen.ts";
import { gateWords, rebootBacklog } from "../gate/reboot-backlog.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { ageText } from "../terminal/span.ts";
import {
  failedLine,
  goodLine,
  unknownLine,
  warningLine,
  type Category,
  type ClusterLine,
  type LineEvidence,
} from "./cluster-line.ts";
import { criticalLine } from "./critical-line.ts";
import { plural } from "../terminal/plural.ts";

/** The threshold of the alert MultusMemoryPressure, and the point from which the daemon serves only DELs. */
const shareWarning = 0.8;
const shareFailed = 0.95;
const killsWithinMs = 3_600_000;
const rebootMsMax = 86_400_000;

export function cniCategory(snapshot: Snapshot, metrics: DaemonMetrics): Category {
  return {
    name: "cni",
    lines: [
      readyLine(snapshot),
      memoryLine(memoryShares(snapshot, metrics), snapshot),
      killsLine(snapshot),
      askedLine(snapshot, metrics),
      criticalLine(snapshot),
    ],
  };
}

export function nodeCategory(snapshot: Snapshot, metrics: DaemonMetrics): Category {
  const { nodes } = snapshot;
  if (!("value" in nodes)) return { name: "nodes", lines: [unknownLine("LVE0501", nodes)] };
  const away = nodes.value.filter(({ isReady }) => !isReady);
  const evidence = Object.fromEntries(away.map(({ name }) => [name, "is not ready"]));
  const ready =
    away.length === 0
      ? goodLine("LVE0501", plural(nodes.value.length, "node"))
      : warningLine("LVE0501", `${away.length} of ${nodes.value.length} are not`, evidence);
  return { name: "nodes", lines: [ready, rebootLine(snapshot, metrics)] };
}

function readyLine({ daemonSets }: Snapshot): ClusterLine {
  if (!("value" in daemonSets)) return unknownLine("LVE0401", daemonSets);
  if (daemonSets.value.length === 0) return failedLine("LVE0401", "neither Levee nor Multus is installed");
  const evidence = Object.fromEntries(
    daemonSets.value.map((one) => [
      `${one.namespace}/${one.name}`,
      `${partText(one)}, ${one.ready} of ${one.desired} ready`,
    ]),
  );
  const missing = daemonSets.value.reduce((sum, { ready, desired }) => sum + Math.max(0, desired - ready), 0);
  return missing === 0
    ? goodLine("LVE0401", "", evidence)
    : failedLine("LVE0401", `${plural(missing, "pod")} of them are not`, evidence);
}

interface Share {
  readonly name: string;
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** From the daemons' own metrics, and from metrics.k8s.io for other daemons. */
function memoryShares(snapshot: Snapshot, { nodes }: DaemonMetrics): readonly Share[] {
  const own = [...nodes].flatMap(([node, seen]): Share[] => {
    const metrics = valueOr(seen, []);
    const usedBytes = metricOf(metrics, "levee_memory_working_set_bytes");
    const limitBytes = metricOf(metrics, "levee_memory_limit_bytes");
    return usedBytes === undefined || limitBytes === undefined
      ? []
      : [{ name: `levee on ${node}`, usedBytes, limitBytes }];
  });
  const others = valueOr(snapshot.daemonSets, []).filter((one) => !isLeveeDaemon(one) || own.length === 0);
  return [...own, ...others.flatMap((daemonSet) => usageShares(daemonSet, snapshot))];
}

function usageShares(daemonSet: DaemonSetFacts, { usage, pods }: Snapshot): readonly Share[] {
  const own = podsOf(daemonSet, valueOr(pods, []));
  return daemonSet.containers.flatMap(({ name: container, memoryLimit }) => {
    const limitBytes = memoryBytes(memoryLimit);
    if (limitBytes === undefined) return [];
    return own.flatMap((pod): Share[] => {
      const used = valueOr(usage, []).find(
        (one) => one.namespace === pod.namespace && one.pod === pod.name && one.container === container,
      );
      const name = `${daemonSet.namespace}/${daemonSet.name} (${container}) on ${pod.node}`;
      return used === undefined ? [] : [{ name, usedBytes: used.memoryBytes, limitBytes }];
    });
  });
}

function memoryLine(shares: readonly Share[], { usage }: Snapshot): ClusterLine {
  const silent = { why: "neither a daemon nor metrics.k8s.io reports it", status: undefined };
  if (shares.length === 0) return unknownLine("LVE0402", "why" in usage ? usage : silent);
  const tight = shares
    .filter(({ usedBytes, limitBytes }) => usedBytes > limitBytes * shareWarning)
    .toSorted((left, right) => right.usedBytes / right.limitBytes - left.usedBytes / left.limitBytes);
  const evidence: LineEvidence = Object.fromEntries(tight.map((share) => [share.name, shareText(share)]));
  if (tight.length === 0) return goodLine("LVE0402", plural(shares.length, "container"));
  const isFull = tight.some(({ usedBytes, limitBytes }) => usedBytes > limitBytes * shareFailed);
  const text = `${tight.length} of ${shares.length} use more than ${shareWarning * 100} % of their limit`;
  return isFull ? failedLine("LVE0402", text, evidence) : warningLine("LVE0402", text, evidence);
}

function shareText({ usedBytes, limitBytes }: Share): string {
  return `${memoryText(usedBytes)} of ${memoryText(limitBytes)} (${Math.round((100 * usedBytes) / limitBytes)} %)`;
}

function killsLine({ daemonSets, pods, nowMs }: Snapshot): ClusterLine {
  if (!("value" in pods)) return unknownLine("LVE0403", pods);
  const all = valueOr(daemonSets, []).flatMap((daemonSet) => podsOf(daemonSet, pods.value));
  const killed = all.filter(({ oomKilledMs }) => oomKilledMs > 0 && nowMs - oomKilledMs < killsWithinMs);
  const evidence = Object.fromEntries(
    killed.map(({ namespace, name, node, restarts, oomKilledMs }) => [
      `${namespace}/${name} on ${node}`,
      `killed ${ageText(nowMs - oomKilledMs)} ago, ${plural(restarts, "restart")}`,
    ]),
  );
  return killed.length === 0
    ? goodLine("LVE0403", "in the last hour")
    : failedLine("LVE0403", `${killed.length} of ${all.length} in the last hour`, evidence);
}

export function podsOf({ namespace, name }: DaemonSetFacts, pods: readonly ClusterPod[]): readonly ClusterPod[] {
  return pods.filter((pod) => pod.namespace === namespace && pod.owner === `DaemonSet/${name}`);
}

function askedLine({ daemonSets }: Snapshot, { nodes }: DaemonMetrics): ClusterLine {
  if (!("value" in daemonSets)) return unknownLine("LVE0404", daemonSets);
  const away = [...nodes].flatMap(([node, seen]): (readonly [string, string])[] =>
    "why" in seen ? [[node, seen.why]] : [],
  );
  if (away.length > 0)
    return warningLine("LVE0404", `${away.length} of ${nodes.size} cannot`, Object.fromEntries(away));
  return goodLine("LVE0404", nodes.size === 0 ? "Levee's daemon is not installed" : plural(nodes.size, "node"));
}

/** The nodes' own marks, as Levee's daemon sees them, with what their gates say. */
function rebootLine(snapshot: Snapshot, metrics: DaemonMetrics): ClusterLine {
  const { nowMs, daemonSets } = snapshot;
  const told = [...metrics.nodes.values()].filter(
    (seen) => metricOf(valueOr(seen, []), "levee_node_reboot_required") !== undefined,
  ).length;
  const waiting = rebootBacklog(snapshot, metrics);
  if (told === 0 && waiting.length === 0) {
    const hasOurs = valueOr(daemonSets, []).some(isLeveeDaemon);
    const why = hasOurs ? "no daemon answers" : "only Levee's daemon reports it";
    return unknownLine("LVE0502", { why, status: undefined });
  }
  const evidence = Object.fromEntries(
    waiting.map((one) => [one.node, `for ${ageText(nowMs - one.sinceMs)}${gateWords(one)}`]),
  );
  if (waiting.some(({ sinceMs }) => nowMs - sinceMs > rebootMsMax))
    return warningLine("LVE0502", `${waiting.length} of ${Math.max(told, waiting.length)} do`, evidence);
  return goodLine("LVE0502", waiting.length === 0 ? plural(told, "node") : "none for a day", evidence);
}
