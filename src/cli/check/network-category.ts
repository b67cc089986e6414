import { podsUseIt } from "../../lint/named-pods.ts";
import { timeText } from "../../guard/json-values.ts";
import { namedPods, networkUsers } from "../../guard/networks/network-users.ts";
import { metricOf, type Metric } from "../../wire/metric-lines.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { valueOr, type Seen } from "../cluster/seen.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { plural } from "../terminal/plural.ts";
import { failedLine, goodLine, unknownLine, warningLine, type Category, type ClusterLine } from "./cluster-line.ts";
import { leaderMetrics } from "./guard-lines.ts";

/** What the guard says about network definitions, where one is installed; daemons and guard about addresses. */
export function networkCategory(snapshot: Snapshot, { guards, nodes }: DaemonMetrics): Category {
  const { guard } = snapshot;
  const isAbsent = "value" in guard && guard.value === undefined;
  const leader = leaderMetrics(guards, snapshot);
  const ofGuard = isAbsent ? [] : [changedLine(leader, snapshot), overlapLine(leader)];
  const shared = roomsIn(valueOr(leader, []), "levee_guard_network_addresses", "in the cluster");
  // Whether Levee's daemons are there, and may be seen, is another check.
  const isCounted = nodes.size + shared.length > 0;
  const ofNodes = [...(isCounted ? [addressLine(nodes, shared)] : []), ...doubtLine(nodes)];
  return { name: "networks", lines: [...ofGuard, ...ofNodes] };
}

const silent = { why: "the guard that leads cannot read network definitions, or is older", status: undefined };

function changedLine(leader: Seen<readonly Metric[]>, snapshot: Snapshot): ClusterLine {
  const counted = countOf(leader, ["changed", "deleted"]);
  if (!("value" in counted)) return unknownLine("LVE0801", counted);
  if (counted.value === 0) return goodLine("LVE0801", "");
  const evidence = changesIn(valueOr(leader, []), snapshot);
  return warningLine("LVE0801", plural(counted.value, "network definition"), evidence);
}

function changesIn(metrics: readonly Metric[], { pods }: Snapshot): Readonly<Record<string, string>> {
  const users = networkUsers(valueOr(pods, []));
  const changed = metrics.filter(({ name }) => name === "levee_guard_network_changed_timestamp_seconds");
  return Object.fromEntries(
    changed.map(({ labels: { network = "", kind = "" }, value }) => {
      // A pod that was made later has the new configuration.
      const hurt = (users.get(network) ?? []).filter(({ createdMs }) => createdMs <= value * 1_000);
      const who = hurt.length === 0 ? "" : `: ${podsUseIt(namedPods(hurt))}`;
      return [network, `${kind} at ${timeText(value * 1_000)}${who}`];
    }),
  );
}

function overlapLine(leader: Seen<readonly Metric[]>): ClusterLine {
  const counted = countOf(leader, ["overlap"]);
  if (!("value" in counted)) return unknownLine("LVE0802", counted);
  if (counted.value === 0) return goodLine("LVE0802", "");
  const evidence = valueOr(leader, [])
    .filter(({ name }) => name === "levee_guard_network_overlap")
    .map(({ labels: { network = "" } }): [string, string] => [network, "gives addresses of an older definition"]);
  return warningLine("LVE0802", plural(counted.value, "network definition"), Object.fromEntries(evidence));
}

/** The threshold of the alert NetworkAddressesLow. */
const shareMin = 0.1;

/** host-local has its ranges on each node, whereabouts for the cluster. */
function addressLine(nodes: DaemonMetrics["nodes"], shared: readonly RoomSeen[]): ClusterLine {
  const own = [...nodes].flatMap(([node, seen]) => roomsIn(valueOr(seen, []), "levee_network_addresses", `on ${node}`));
  const rooms = [...own, ...shared];
  const answered = [...nodes.values()].filter((seen) => "value" in seen).length;
  if (answered + shared.length === 0) return unknownLine("LVE0803", { why: "no daemon answers", status: undefined });
  const low = rooms
    .filter(({ left, total }) => left < total * shareMin || left === 0)
    .toSorted((one, other) => one.left - other.left);
  const evidence = Object.fromEntries(
    low.map(({ network, place, left, total }) => [`${network} ${place}`, `${left} of ${total} left`]),
  );
  const places = `${plural(own.length, "range")} on ${plural(answered, "node")}`;
  const inCluster = shared.length === 0 ? "" : `, ${shared.length} in the cluster`;
  if (low.length === 0) return goodLine("LVE0803", `${places}${inCluster}`);
  const detail = `${low.length} of ${plural(rooms.length, "range")} have few or none`;
  return low.some(({ left }) => left === 0)
    ? failedLine("LVE0803", detail, evidence)
    : warningLine("LVE0803", detail, evidence);
}

/** Older daemons do not count doubts, and say nothing about them. */
function doubtLine(nodes: DaemonMetrics["nodes"]): readonly ClusterLine[] {
  const counts = [...nodes].flatMap(([node, seen]): (readonly [string, number])[] => {
    const count = metricOf(valueOr(seen, []), "levee_networks_doubtful");
    return count === undefined ? [] : [[node, count]];
  });
  const doubtful = counts.filter(([, count]) => count > 0);
  if (counts.length === 0) return [];
  if (doubtful.length === 0) return [goodLine("LVE0804", plural(counts.length, "node"))];
  const evidence = Object.fromEntries(doubtful.map(([node, count]) => [node, plural(count, "network")]));
  return [warningLine("LVE0804", `on ${doubtful.length} of ${plural(counts.length, "node")}`, evidence)];
}

interface RoomSeen {
  readonly network: string;
  /** `on NODE`, or `in the cluster`. */
  readonly place: string;
  readonly total: number;
  readonly left: number;
}

function roomsIn(metrics: readonly Metric[], family: string, place: string): readonly RoomSeen[] {
  const named = (wanted: string): readonly Metric[] => metrics.filter(({ name }) => name === wanted);
  const totals = new Map(named(family).map(({ labels, value }) => [labels["network"] ?? "", value]));
  return named(`${family}_left`).map(({ labels: { network = "" }, value }) => ({
    network,
    place,
    total: totals.get(network) ?? 0,
    left: value,
  }));
}

function countOf(leader: Seen<readonly Metric[]>, kinds: readonly string[]): Seen<number> {
  if (!("value" in leader)) return leader;
  const rows = leader.value.filter(({ name }) => name === "levee_guard_network_warnings");
  if (rows.length === 0) return silent;
  return {
    value: rows.reduce((sum, { labels, value }) => sum + (kinds.includes(labels["kind"] ?? "") ? value : 0), 0),
  };
}
