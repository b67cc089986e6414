import { series, type Series } from "../alerts/series.ts";

/** The guard in the storm: it proposes a Decision in minute 10, and its gate keeps agent2 from its reboot. */
export function guardSeries(): readonly Series[] {
  return [
    series("levee_guard_leader", { instance: "g1" }, 1),
    series("levee_guard_leader", { instance: "g2" }, 0),
    ...["g1", "g2"].flatMap(replica),
    ...gate(),
  ];
}

function replica(instance: string): readonly Series[] {
  const proposed = { instance, phase: "Proposed" };
  return [
    series("levee_guard_decisions", proposed, (minute) => (minute < 10 ? 0 : 2)),
    series("levee_guard_decisions", { instance, phase: "Succeeded" }, 1),
    series("levee_guard_oldest_decision_age_seconds", proposed, (minute) => Math.max(0, minute - 10) * 60),
    series("levee_guard_view_last_event_age_seconds", { instance, resource: "pods" }, instance === "g1" ? 4 : 9),
    series("levee_guard_node_views", { instance }, 3),
    series("levee_guard_alerts_seen", { instance }, 45),
    series("levee_guard_proposals_refused_total", { instance }, 0),
  ];
}

function gate(): readonly Series[] {
  const node = "agent2";
  return [
    series("levee_gate_verdict", { node, verdict: "Deny" }, 1),
    series("levee_gate_reasons", { node, reason: "FiringAlert" }, 3),
    series("levee_gate_reasons", { node, reason: "DecisionOpen" }, 2),
    series("levee_gate_reboot_due_seconds", { node }, (minute) => 3600 + minute * 60),
    series("levee_gate_age_seconds", { node }, 30),
    series("levee_gate_override", { node }, (minute) => Number(minute > 100)),
    series("levee_gate_last_look_age_seconds", {}, 4),
    series("levee_gate_blind", {}, 0),
    series("levee_gate_kured_lock", { daemonset: "kube-system/kured", orphaned: "true" }, (minute) =>
      minute < 90 ? undefined : 1,
    ),
    series("levee_gate_stranded_node", { node: "server" }, (minute) => (minute > 60 ? 1 : undefined)),
  ];
}
