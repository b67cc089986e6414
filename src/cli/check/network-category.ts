import { podsUseIt } from "../../lint/named-pods.ts";
import { timeText } from "../../guard/json-values.ts";
import { namedPods, networkUsers } from "../../guard/networks/network-users.ts";
import type { Metric } from "../../wire/metric-lines.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { valueOr, type Seen } from "../cluster/seen.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { plural } from "../terminal/plural.ts";
import { goodLine, unknownLine, warningLine, type Category, type ClusterLine } from "./cluster-line.ts";
import { leaderMetrics } from "./guard-lines.ts";

/** What the guard says about network definitions; nothing where no guard is installed. */
export function networkCategory(snapshot: Snapshot, { guards }: DaemonMetrics): Category {
  const { guard } = snapshot;
  const isAbsent = "value" in guard && guard.value === undefined;
  const leader = leaderMetrics(guards, snapshot);
  return { name: "networks", lines: isAbsent ? [] : [changedLine(leader, snapshot), overlapLine(leader)] };
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

function countOf(leader: Seen<readonly Metric[]>, kinds: readonly string[]): Seen<number> {
  if (!("value" in leader)) return leader;
  const rows = leader.value.filter(({ name }) => name === "levee_guard_network_warnings");
  if (rows.length === 0) return silent;
  return {
    value: rows.reduce((sum, { labels, value }) => sum + (kinds.includes(labels["kind"] ?? "") ? value : 0), 0),
  };
}
