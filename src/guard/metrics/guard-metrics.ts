import { findScattered } from "../detect/avalanche.ts";
import type { ClusterPod } from "../facts/cluster-pod.ts";
import type { AlertFacts, EventFacts, NodeFacts, NodeViewFacts } from "../facts/world.ts";
import { metricFamily, type MetricRow } from "./metric-family.ts";
import { canWait, decisionCauses, decisionPhases, terminalPhases, type Decision } from "../decision/decision.ts";
import type { ReflectorHealth } from "../../kube/watch/reflector-health.ts";

/** The state behind the metrics of a guard, leading or not. */
export interface GuardState {
  readonly nowMs: number;
  /** As in `World`. */
  readonly stuckAfterMs?: number;
  readonly isLeader: boolean;
  /** Since the process started. */
  readonly runningMs: number;
  /** Proposals that the API server has refused since then. */
  readonly refusedProposals: number;
  readonly health: readonly ReflectorHealth[];
  readonly decisions: readonly Decision[];
  readonly events: readonly EventFacts[];
  readonly nodes: readonly Pick<NodeFacts, "name">[];
  readonly pods: Iterable<ClusterPod>;
  readonly alerts: readonly AlertFacts[];
  readonly nodeViews: readonly NodeViewFacts[];
}

/** Prometheus' text format. The alerts of deploy/alerts depend on these metrics. */
export function guardMetrics(state: GuardState): string {
  return [
    metricFamily("levee_guard_leader", "1 on the replica that leads", [["", state.isLeader ? 1 : 0]]),
    metricFamily(
      "levee_guard_view_last_event_age_seconds",
      "Seconds since the last event of the resource",
      ages(state),
    ),
    metricFamily(
      "levee_guard_proposals_refused_total",
      "Proposals that the API server refused",
      [["", state.refusedProposals]],
      "counter",
    ),
    metricFamily("levee_guard_view_objects", "Objects in the local copy", objects(state)),
    metricFamily("levee_guard_decisions", "Decisions by phase", counts(state)),
    metricFamily("levee_guard_open_decisions", "Decisions that have not ended, by cause", open(state)),
    metricFamily(
      "levee_guard_oldest_decision_age_seconds",
      "Seconds since the oldest Decision in the phase entered it, without proposals that can wait",
      oldest(state),
    ),
    metricFamily(
      "levee_guard_stale_sandbox_reservations",
      "Pods whose events say that their sandbox's name is taken",
      taken(state),
    ),
    metricFamily("levee_guard_alerts_seen", "Firing alerts of this cluster in Alertmanager", [
      ["", state.alerts.length],
    ]),
    metricFamily("levee_guard_node_views", "Nodes whose daemon answers", [["", state.nodeViews.length]]),
    metricFamily(
      "levee_guard_scattered_pods",
      "Ownerless pods that do not start and have too many shapes to be one avalanche",
      scattered(state),
    ),
  ].join("");
}

/** Kubelet retries and writes an event at least this often. */
const eventMsMax = 10 * 60_000;
/** Lines per metric. */
const nodesMax = 1_000;
const namespacesMax = 100;

/** Leaves out resources that the cluster has no definition for. */
function present({ health }: GuardState): readonly ReflectorHealth[] {
  return health.filter(({ isAbsent }) => isAbsent !== true);
}

/** A resource that was never heard of has the age of the process, so a guard that starts blind shows up too. */
function ages(state: GuardState): readonly MetricRow[] {
  return present(state).map(({ resource, lastEventAgeMs }) => [
    `{resource="${resource}"}`,
    (lastEventAgeMs ?? state.runningMs) / 1_000,
  ]);
}

function objects(state: GuardState): readonly MetricRow[] {
  return present(state).map((each) => [`{resource="${each.resource}"}`, each.objects]);
}

function counts({ decisions }: GuardState): readonly MetricRow[] {
  return decisionPhases.map((phase) => [`{phase="${phase}"}`, inPhase(decisions, phase).length]);
}

function open({ decisions }: GuardState): readonly MetricRow[] {
  const all = decisions.filter(({ status }) => !terminalPhases.has(status?.phase ?? "Proposed"));
  return decisionCauses.map((cause) => [`{cause="${cause}"}`, all.filter(({ spec }) => spec.cause === cause).length]);
}

function oldest({ decisions, nowMs }: GuardState): readonly MetricRow[] {
  return decisionPhases.map((phase) => {
    const agesMs = inPhase(decisions, phase)
      .filter((decision) => !canWait(decision))
      .map((decision) => nowMs - sinceMs(decision, nowMs));
    return [`{phase="${phase}"}`, Math.max(0, ...agesMs) / 1_000];
  });
}

function inPhase(decisions: readonly Decision[], phase: string): readonly Decision[] {
  return decisions.filter(({ status }) => (status?.phase ?? "Proposed") === phase);
}

/** A Decision without a status is proposed since its creation. */
function sinceMs({ status, metadata }: Decision, nowMs: number): number {
  const ms = Date.parse(status?.since ?? metadata.creationTimestamp ?? "");
  return Number.isNaN(ms) ? nowMs : ms;
}

/** Largest first. The API server's names of namespaces need no escaping. */
function scattered({ pods, nowMs, stuckAfterMs }: GuardState): readonly MetricRow[] {
  const most = [...findScattered(pods, nowMs, stuckAfterMs)].toSorted(([, left], [, right]) => right - left);
  return most.slice(0, namespacesMax).map(([namespace, count]) => [`{namespace="${namespace}"}`, count]);
}

/** Counts only nodes that exist: the node in an event can be anything. */
function taken({ events, nodes, nowMs }: GuardState): readonly MetricRow[] {
  const pods = new Map<string, Set<string>>(nodes.map(({ name }) => [name, new Set()]));
  for (const { isNameReserved, lastMs, node, podUid } of events)
    if (isNameReserved === true && nowMs - lastMs < eventMsMax) pods.get(node)?.add(podUid);
  const rows = [...pods].filter(([, uids]) => uids.size > 0).slice(0, nodesMax);
  return rows.map(([node, uids]) => [`{node="${node}"}`, uids.size]);
}
