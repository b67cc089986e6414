import { decisionPhase } from "../../guard/decide/standing.ts";
import { canWait, type Decision } from "../../guard/decision/decision.ts";
import { timeMs } from "../../guard/json-values.ts";
import type { DaemonMetrics } from "../cluster/daemon-metrics.ts";
import { metricOf, type Metric } from "../../wire/metric-lines.ts";
import { leads } from "../cluster/project.ts";
import type { Seen } from "../cluster/seen.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { ageText } from "../terminal/span.ts";
import { failedLine, goodLine, unknownLine, warningLine, type Category, type ClusterLine } from "./cluster-line.ts";
import { plural } from "../terminal/plural.ts";

/** The threshold of the alert LeveeBlind. */
const viewAgeSecondsMax = 180;
/** The threshold of the alert LeveeDecisionWaiting. */
const waitsMsMax = 5 * 60_000;

export function guardCategory(snapshot: Snapshot, { guards }: DaemonMetrics): Category {
  const { guard } = snapshot;
  const isAbsent = "value" in guard && guard.value === undefined;
  const lines = isAbsent
    ? [warningLine("LVE0301", "it is not installed")]
    : [
        runsLine(snapshot),
        leadsLine(snapshot),
        freshLine(guards, snapshot),
        actsLine(snapshot),
        breakerLine(snapshot),
        calmLine(snapshot),
      ];
  return { name: "guard", lines: [...lines, approverLine(snapshot)] };
}

function runsLine({ guard }: Snapshot): ClusterLine {
  if (!("value" in guard)) return unknownLine("LVE0301", guard);
  if (guard.value === undefined) return warningLine("LVE0301", "it is not installed");
  const { desired, available } = guard.value;
  const text = `${available} of ${desired} replicas available`;
  if (available === 0) return failedLine("LVE0301", text);
  return available < desired ? warningLine("LVE0301", text) : goodLine("LVE0301", text);
}

function leadsLine({ lease, nowMs }: Snapshot): ClusterLine {
  if (!("value" in lease)) return unknownLine("LVE0302", lease);
  if (lease.value === undefined || lease.value.holder === "") return failedLine("LVE0302", "no guard holds the Lease");
  const { holder, renewedMs, transitions } = lease.value;
  const renewed = `${holder}, renewed ${ageText(nowMs - renewedMs)} ago, term ${transitions}`;
  return leads(lease.value, nowMs) ? goodLine("LVE0302", renewed) : failedLine("LVE0302", `it has lapsed: ${renewed}`);
}

/** Only the leader counts; a waiting replica may be behind. */
function freshLine(guards: DaemonMetrics["guards"], snapshot: Snapshot): ClusterLine {
  const leader = leaderMetrics(guards, snapshot);
  if (!("value" in leader)) return unknownLine("LVE0303", leader);
  const ages = leader.value.filter(({ name }) => name === "levee_guard_view_last_event_age_seconds");
  const old = ages.filter(({ value }) => value > viewAgeSecondsMax);
  const evidence = Object.fromEntries(
    old.map(({ labels, value }) => [labels["resource"] ?? "", `no news for ${ageText(value * 1_000)}`]),
  );
  return old.length === 0
    ? goodLine("LVE0303", `${ages.length} resources are followed`)
    : failedLine("LVE0303", `${old.length} of ${ages.length} resources are old`, evidence);
}

/** The metrics of the guard that leads. */
export function leaderMetrics(guards: DaemonMetrics["guards"], snapshot: Snapshot): Seen<readonly Metric[]> {
  const answers = [...guards.values()].flatMap((seen) => ("value" in seen ? [seen.value] : []));
  const leader = answers.find((metrics) => metricOf(metrics, "levee_guard_leader") === 1);
  if (leader !== undefined) return { value: leader };
  const [unseen] = [...guards.values(), snapshot.lease].flatMap((seen) => ("why" in seen ? [seen] : []));
  return unseen ?? { why: unaskedText(guards.size, snapshot), status: undefined };
}

/** A guard that runs outside the cluster, or has just taken over, leads without a pod that reports it. */
function unaskedText(pods: number, { lease, nowMs, namespace }: Snapshot): string {
  const holder = "value" in lease && lease.value !== undefined && leads(lease.value, nowMs) ? lease.value.holder : "";
  if (holder === "") return "no guard leads";
  return pods === 0
    ? `${holder} leads, but ${namespace} has no guard pod to ask`
    : `${holder} leads, but no guard pod in ${namespace} reports that it leads`;
}

function actsLine({ mayAct }: Snapshot): ClusterLine {
  if (!("value" in mayAct)) return unknownLine("LVE0304", mayAct);
  return mayAct.value
    ? goodLine("LVE0304", "")
    : warningLine("LVE0304", "the ClusterRoleBinding levee-guard-acts is missing, so all actions are stopped");
}

function breakerLine({ budget }: Snapshot): ClusterLine {
  if (!("value" in budget)) return unknownLine("LVE0305", budget);
  return budget.value.breaker === "" ? goodLine("LVE0305", "") : failedLine("LVE0305", budget.value.breaker);
}

/** After a day of silence: a Prometheus that was away for an hour is no news. */
const silentMsMax = 86_400_000;

function calmLine({ calms, nowMs }: Snapshot): ClusterLine {
  if (!("value" in calms)) return unknownLine("LVE0307", calms);
  const rows = calms.value.map(({ key, limit, sinceMs, broken }): [string, string] => [
    `${key.slice(key.indexOf("/") + 1)} at ${limit}`,
    broken === "" ? `without pressure for ${ageText(nowMs - sinceMs)}` : `stays: ${broken}`,
  ]);
  const silent = calms.value.filter(({ coveredMs }) => nowMs - coveredMs > silentMsMax).length;
  const evidence = Object.fromEntries(rows);
  if (silent > 0)
    return warningLine(
      "LVE0307",
      `${silent} of ${rows.length} raised limits: nobody tells what the daemon uses`,
      evidence,
    );
  return goodLine("LVE0307", rows.length === 0 ? "none is raised" : plural(rows.length, "raised limit"), evidence);
}

function approverLine({ approvers }: Snapshot): ClusterLine {
  if (!("value" in approvers)) return unknownLine("LVE0306", approvers);
  const persons = approvers.value.filter(({ kind }) => kind !== "ServiceAccount");
  if (persons.length > 0)
    return goodLine("LVE0306", persons.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`).join(", "));
  return warningLine(
    "LVE0306",
    approvers.value.length === 0
      ? "the role levee-approver is bound to no one"
      : "the role levee-approver is bound to service accounts only, which cannot approve",
  );
}

function waitingText(waiting: readonly Decision[]): string {
  const patient = waiting.filter(canWait).length;
  const others = waiting.length - patient;
  return [
    ...(others === 0 ? [] : [`${plural(others, "Decision")} waiting, none for more than five minutes`]),
    ...(patient === 0 ? [] : [`${plural(patient, "Decision")} that can wait`]),
  ].join("; ");
}

export function decisionCategory({ decisions, nowMs }: Snapshot): Category {
  const name = "decisions";
  if (!("value" in decisions)) return { name, lines: [unknownLine("LVE0701", decisions)] };
  const all = decisions.value?.decisions ?? [];
  const waiting = all.filter((decision) => decisionPhase(decision) === "Proposed");
  const late = waiting.filter((decision) => !canWait(decision) && nowMs - sinceMs(decision) > waitsMsMax);
  const paused = all.filter((decision) => decisionPhase(decision) === "Paused");
  const told = (some: readonly Decision[]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      some.map((one) => [
        one.metadata.name,
        `${decisionPhase(one)} for ${ageText(nowMs - sinceMs(one))}: ${one.status?.message ?? one.spec.summary}`,
      ]),
    );
  return {
    name,
    lines: [
      late.length === 0
        ? goodLine("LVE0701", waitingText(waiting), told(waiting))
        : warningLine(
            "LVE0701",
            `${plural(late.length, "Decision")} waiting for more than five minutes`,
            told(waiting),
          ),
      paused.length === 0
        ? goodLine("LVE0702", "")
        : failedLine("LVE0702", plural(paused.length, "Decision"), told(paused)),
    ],
  };
}

function sinceMs({ status, metadata }: Decision): number {
  return timeMs(status?.since ?? metadata.creationTimestamp);
}
