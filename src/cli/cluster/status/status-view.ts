import { decisionPhase } from "../../../guard/decide/standing.ts";
import { terminalPhases, type DecisionSpec } from "../../../guard/decision/decision.ts";
import { findAvalanches, isStuck } from "../../../guard/detect/avalanche.ts";
import { timeMs } from "../../../guard/json-values.ts";
import type { ClusterLook } from "../../check/cluster-checks.ts";
import { refusedDetail } from "../../check/cluster-line.ts";
import { podsOf } from "../../check/cni-lines.ts";
import { rebootBacklog, type WaitingNode } from "../../gate/reboot-backlog.ts";
import { plural } from "../../terminal/plural.ts";
import { partText } from "../cni-daemon-set.ts";
import { leads } from "../project.ts";
import { valueOr, type Seen } from "../seen.ts";
import type { Snapshot } from "../snapshot.ts";
import type { AlertCounts } from "./alerts.ts";

/** What `levee status` shows and prints as JSON. Undefined members, and those in `unknown`, could not be read. */
export interface StatusView {
  readonly version: 1;
  readonly server: string;
  readonly daemons: readonly DaemonView[];
  readonly nodes: { readonly total: number; readonly trouble: Readonly<Record<string, readonly string[]>> };
  readonly guard: GuardView | undefined;
  readonly decisions: readonly DecisionView[];
  /** Nodes that wait for a reboot, with what their gates say. */
  readonly reboots: readonly WaitingNode[];
  readonly avalanches: readonly { readonly namespace: string; readonly pods: number; readonly nodes: number }[];
  /** Pods that have a node and do not start, by namespace. */
  readonly backlog: Readonly<Record<string, number>>;
  readonly alerts: AlertCounts | undefined;
  readonly alertsUnknown: string;
  /** What could not be read, and why. An approver may lack the right to read nodes, for instance. */
  readonly unknown: Readonly<Partial<Record<StatusPart, string>>>;
  /** Those of them that the API server does not show this user. */
  readonly refused: readonly StatusPart[];
  /** Failed checks by code; `warnings` likewise. */
  readonly failed: Readonly<Record<string, string>>;
  readonly warnings: Readonly<Record<string, string>>;
}

export type StatusPart = "daemons" | "nodes" | "guard" | "decisions" | "pods";

export interface DaemonView {
  readonly namespace: string;
  readonly name: string;
  /** Such as `Levee's daemon` or `Multus`. */
  readonly is: string;
  readonly desired: number;
  readonly ready: number;
  /** Pods of it that were killed for memory in the last hour. */
  readonly killed: number;
}

interface GuardView {
  readonly desired: number;
  readonly available: number;
  /** Empty if no guard leads. */
  readonly leader: string;
  readonly term: number;
}

interface DecisionView {
  readonly name: string;
  readonly phase: string;
  readonly step: string;
  readonly sinceMs: number;
  readonly message: string;
  /** `Job/nightly in shop`; empty for an avalanche, whose Decisions have the namespace in their names. */
  readonly about: string;
}

const killsWithinMs = 3_600_000;

export function statusView({ snapshot, metrics, categories }: ClusterLook, alerts: Seen<AlertCounts>): StatusView {
  const { nowMs, version } = snapshot;
  const pods = valueOr(snapshot.pods, []);
  const lines = categories.flatMap((category) => category.lines);
  const told = (state: string): Readonly<Record<string, string>> =>
    Object.fromEntries(
      // What this user may not see is told once, by `refused`.
      lines
        .filter((line) => line.state === state && line.detail !== refusedDetail)
        .map(({ code, name, detail }) => [code, `${name}: ${detail}`]),
    );
  return {
    version: 1,
    server: "value" in version ? version.value.text : "",
    daemons: daemonsOf(snapshot),
    nodes: { total: valueOr(snapshot.nodes, []).length, trouble: troubleOf(snapshot) },
    guard: guardOf(snapshot),
    decisions: openOf(snapshot),
    reboots: rebootBacklog(snapshot, metrics),
    avalanches: findAvalanches(pods, nowMs).map(({ namespace, members, nodes }) => ({
      namespace,
      pods: members.length,
      nodes: nodes.size,
    })),
    backlog: countBy(
      pods.filter((pod) => isStuck(pod, nowMs)),
      ({ namespace }) => namespace,
    ),
    alerts: "value" in alerts ? alerts.value : undefined,
    alertsUnknown: "why" in alerts ? alerts.why : "",
    unknown: unknownOf(snapshot),
    refused: refusedOf(snapshot),
    failed: told("failed"),
    warnings: told("warning"),
  };
}

function unknownOf(snapshot: Snapshot): StatusView["unknown"] {
  return Object.fromEntries(
    partsOf(snapshot).flatMap(([part, seen]) => ("why" in seen ? [[part, seen.why] as const] : [])),
  );
}

function refusedOf(snapshot: Snapshot): readonly StatusPart[] {
  return partsOf(snapshot).flatMap(([part, seen]) =>
    "why" in seen && (seen.status === 401 || seen.status === 403) ? [part] : [],
  );
}

function partsOf(snapshot: Snapshot): readonly (readonly [StatusPart, Seen<unknown>])[] {
  const { daemonSets, nodes, lease, decisions, pods } = snapshot;
  return [
    ["daemons", daemonSets],
    ["nodes", nodes],
    ["guard", lease],
    ["decisions", decisions],
    ["pods", pods],
  ];
}

function daemonsOf({ daemonSets, pods, nowMs }: Snapshot): readonly DaemonView[] {
  return valueOr(daemonSets, []).map((daemonSet) => ({
    namespace: daemonSet.namespace,
    name: daemonSet.name,
    is: partText(daemonSet),
    desired: daemonSet.desired,
    ready: daemonSet.ready,
    killed: podsOf(daemonSet, valueOr(pods, [])).filter(({ oomKilledMs }) => nowMs - oomKilledMs < killsWithinMs)
      .length,
  }));
}

/** What is wrong, by node; healthy nodes are left out. */
function troubleOf({ nodes, pods, daemonSets, nowMs }: Snapshot): Readonly<Record<string, readonly string[]>> {
  const all = valueOr(pods, []);
  const stuck = countBy(
    all.filter((pod) => isStuck(pod, nowMs)),
    ({ node }) => node,
  );
  const killed = countBy(
    valueOr(daemonSets, [])
      .flatMap((daemonSet) => podsOf(daemonSet, all))
      .filter(({ oomKilledMs }) => nowMs - oomKilledMs < killsWithinMs),
    ({ node }) => node,
  );
  const trouble = valueOr(nodes, []).map(({ name, isReady }): [string, string[]] => [
    name,
    [
      ...(isReady ? [] : ["not ready"]),
      ...((killed[name] ?? 0) === 0 ? [] : ["its CNI daemon was killed for memory"]),
      ...((stuck[name] ?? 0) === 0 ? [] : [`${plural(stuck[name] ?? 0, "pod")} not starting`]),
    ],
  ]);
  return Object.fromEntries(trouble.filter(([, reasons]) => reasons.length > 0));
}

function guardOf({ guard, lease, nowMs }: Snapshot): GuardView | undefined {
  const { desired, available } = valueOr(guard, undefined) ?? { desired: 0, available: 0 };
  const held = valueOr(lease, undefined);
  if (desired === 0 && held === undefined) return undefined;
  const isLed = held !== undefined && leads(held, nowMs);
  return { desired, available, leader: isLed ? held.holder : "", term: held?.transitions ?? 0 };
}

function openOf({ decisions }: Snapshot): readonly DecisionView[] {
  const all = valueOr(decisions, undefined)?.decisions ?? [];
  return all
    .filter((decision) => !terminalPhases.has(decisionPhase(decision)))
    .map((decision) => ({
      name: decision.metadata.name,
      phase: decisionPhase(decision),
      step: decision.status?.step ?? "",
      sinceMs: timeMs(decision.status?.since ?? decision.metadata.creationTimestamp),
      message: decision.status?.message ?? "",
      about: aboutText(decision.spec),
    }));
}

function aboutText({ cause, subject: { namespace, shape } }: DecisionSpec): string {
  if (cause === "OwnerlessPodAvalanche") return "";
  return namespace === "" ? shape : `${shape} in ${namespace}`;
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Readonly<Record<string, number>> {
  const groups = [...Map.groupBy(items, keyOf)].map(([key, own]): [string, number] => [key, own.length]);
  return Object.fromEntries(groups.toSorted(([, left], [, right]) => right - left));
}
