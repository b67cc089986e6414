import { barely } from "./a-cluster.ts";
import type { Scenario } from "./replay.ts";
import { series, type Series } from "./series.ts";

const node = { node: "server" };
const looks = series("levee_gate_last_look_age_seconds", {}, 4);
const marked: readonly Series[] = [
  series("levee_node_reboot_required", node, 1),
  series("levee_node_reboot_required_since_timestamp_seconds", node, 0),
];

function gate(verdict: string, from = 0): Series {
  return series("levee_gate_verdict", { ...node, verdict }, (minute) => (minute >= from ? 1 : undefined));
}

/** The reboot gate, kured and the node's own mark. */
export const rebootGates: readonly Scenario[] = [
  {
    name: "a gate that holds a node for a day, for two reasons",
    minutes: 25 * 60,
    every: 5,
    series: [
      ...barely(),
      ...marked,
      looks,
      gate("Deny"),
      series("levee_gate_age_seconds", node, 30),
      series("levee_gate_reboot_due_seconds", node, (minute) => minute * 60),
      series("levee_gate_reasons", { ...node, reason: "FiringAlert" }, 3),
      series("levee_gate_reasons", { ...node, reason: "DecisionOpen" }, 1),
    ],
    fires: ["FiringAlert", "DecisionOpen"].map((reason) => ({
      alert: "KuredRebootBacklog",
      severity: "warning",
      of: { ...node, reason, source: "gate" },
      from: 1455,
    })),
  },
  {
    name: "a gate that allows what kured does not see, and a node that kured wants to reboot without a mark",
    minutes: 40,
    series: [
      ...barely(),
      ...marked,
      looks,
      gate("Allow", 5),
      series("kured_reboot_required", { ...node, pod: "kured-a" }, 0),
      series("kured_reboot_required", { node: "other", pod: "kured-b" }, 1),
      series("levee_node_reboot_required", { node: "other" }, 0),
    ],
    fires: [
      { alert: "LeveeGateMismatch", severity: "warning", of: { ...node, mismatch: "kured-does-not-see" }, from: 20 },
      { alert: "LeveeGateMismatch", severity: "warning", of: { node: "other", mismatch: "kured-sees-more" }, from: 15 },
    ],
  },
  {
    name: "a mark for which the guard makes no gate, and a gate that outlives its mark",
    minutes: 40,
    series: [
      ...barely(),
      ...marked,
      looks,
      series("levee_gate_verdict", { node: "other", verdict: "Deny" }, 1),
      series("levee_node_reboot_required", { node: "other" }, 0),
    ],
    fires: [
      { alert: "LeveeGateMismatch", severity: "warning", of: { ...node, mismatch: "mark-without-gate" }, from: 15 },
      {
        alert: "LeveeGateMismatch",
        severity: "warning",
        of: { node: "other", mismatch: "gate-without-mark" },
        from: 15,
      },
    ],
  },
  {
    name: "a guard that leads and no longer looks at the gates",
    minutes: 30,
    series: [
      ...barely(),
      series("levee_gate_last_look_age_seconds", {}, (minute) => minute * 60),
      series("levee_gate_age_seconds", node, (minute) => minute * 60),
    ],
    fires: [
      { alert: "LeveeGateStale", severity: "warning", of: { scope: "cluster" }, from: 8 },
      { alert: "LeveeGateStale", severity: "warning", of: { ...node, scope: "node" }, from: 16 },
    ],
  },
  {
    name: "a lock of a node that is gone, and a node left cordoned",
    minutes: 45,
    series: [
      ...barely(),
      series("levee_gate_kured_lock", { daemonset: "kube-system/kured", orphaned: "true" }, 1),
      series("levee_gate_stranded_node", node, 1),
    ],
    fires: [
      { alert: "KuredLockOfAbsentNode", severity: "warning", of: { daemonset: "kube-system/kured" }, from: 15 },
      { alert: "NodeLeftCordoned", severity: "warning", of: node, from: 30 },
    ],
  },
  {
    name: "an ordinary reboot: a mark, a gate two minutes later, a lock, a cordon of ten minutes",
    minutes: 60,
    series: [
      ...barely(),
      looks,
      series("levee_node_reboot_required", node, (minute) => Number(minute >= 5 && minute < 30)),
      series("kured_reboot_required", { ...node, pod: "kured-a" }, (minute) => Number(minute >= 6 && minute < 31)),
      series("levee_gate_verdict", { ...node, verdict: "Allow" }, (minute) =>
        minute >= 7 && minute < 31 ? 1 : undefined,
      ),
      series("levee_gate_age_seconds", node, (minute) => (minute >= 7 && minute < 31 ? 30 : undefined)),
      series("levee_gate_kured_lock", { daemonset: "kube-system/kured", node: "server", orphaned: "false" }, 1),
      series("levee_gate_stranded_node", node, (minute) => (minute >= 20 && minute < 30 ? 1 : undefined)),
    ],
    fires: [],
  },
];
