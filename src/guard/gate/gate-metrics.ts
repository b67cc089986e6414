import type { Clock } from "../../base/clock.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import type { World } from "../facts/world.ts";
import { metricFamily, type MetricRow } from "../metrics/metric-family.ts";
import type { LookReport } from "./gate-keeper.ts";
import type { GateSettings } from "./gate-settings.ts";
import { parseKuredLock, type KuredLock } from "./kured-lock.ts";

/** What the metrics are made of; `GateObjects` and `GateKeeper` have it. */
interface GateMetricsState {
  readonly clock: Clock;
  readonly isLeader: boolean;
  readonly world: World;
  readonly settings: GateSettings;
  readonly objects: { gates(): ReadonlyMap<string, RebootGate> };
  readonly keeper: { readonly report: LookReport | undefined };
}

/** Lines per metric: nodes that wait. A cluster where more wait has its answer in the first thousand. */
const nodesMax = 1_000;

/** The metrics of the reboot gate, on the leader: two replicas would tell the same twice. */
export function gateMetrics(state: GateMetricsState): string {
  const { keeper, isLeader, clock } = state;
  const { report } = keeper;
  if (!isLeader || report === undefined) return "";
  const ageSeconds = (clock.monotonicMs() - report.endedMs) / 1_000;
  return [
    metricFamily("levee_gate_last_look_age_seconds", "Seconds since the last look at the reboot gates", [
      ["", ageSeconds],
    ]),
    metricFamily("levee_gate_look_seconds", "Length of that look", [["", report.tookMs / 1_000]]),
    metricFamily("levee_gate_looks_total", "Looks at the reboot gates", [["", report.looks]], "counter"),
    metricFamily(
      "levee_gate_writes_failed_total",
      "Writes for the reboot gates that failed",
      [["", report.failedWrites]],
      "counter",
    ),
    metricFamily("levee_gate_blind", "1 while the guard cannot judge the gates", [
      ["", report.outcome === "blind" ? 1 : 0],
    ]),
    ...nodeFamilies(state),
    ...lockFamilies(state),
  ].join("");
}

function nodeFamilies({ objects, world: { nowMs } }: GateMetricsState): readonly string[] {
  const gates = [...objects.gates().values()].slice(0, nodesMax);
  const rows = (valueOf: (gate: RebootGate) => number | undefined): readonly MetricRow[] =>
    gates.flatMap((gate) => {
      const value = valueOf(gate);
      return value === undefined ? [] : [[`{node="${gate.node}"}`, value] as const];
    });
  const verdicts = gates.map(({ node, verdict }): MetricRow => [`{node="${node}",verdict="${verdict}"}`, 1]);
  const reasons = gates.flatMap(({ node, verdict, reasons: given }) =>
    verdict === "Allow"
      ? []
      : [...countsOf(given)].map(([code, count]): MetricRow => [`{node="${node}",reason="${code}"}`, count]),
  );
  return [
    metricFamily("levee_gate_verdict", "1 for the verdict about each node that waits for a reboot", verdicts),
    metricFamily("levee_gate_reasons", "Reasons that keep a node from its reboot, by code", reasons),
    metricFamily(
      "levee_gate_age_seconds",
      "Seconds since the verdict about the node was written",
      rows(({ observedAtMs }) => (nowMs - observedAtMs) / 1_000),
    ),
    metricFamily(
      "levee_gate_reboot_due_seconds",
      "Seconds for which the node has needed a reboot",
      rows(({ rebootRequiredSinceMs: dueMs }) => (dueMs === undefined ? undefined : (nowMs - dueMs) / 1_000)),
    ),
    metricFamily(
      "levee_gate_denied_seconds",
      "Seconds for which the node has been kept from its reboot",
      rows((gate) => (gate.verdict === "Allow" ? 0 : (nowMs - deniedSinceMs(gate, nowMs)) / 1_000)),
    ),
    metricFamily(
      "levee_gate_override",
      "1 while a person's word lets the node be rebooted",
      rows(({ override }) => (override === undefined ? undefined : 1)),
    ),
  ];
}

/** A denial begins with the first of its reasons, and not before the mark. */
function deniedSinceMs({ reasons, rebootRequiredSinceMs = 0 }: RebootGate, nowMs: number): number {
  return Math.max(rebootRequiredSinceMs, Math.min(nowMs, ...reasons.map(({ sinceMs }) => sinceMs)));
}

function countsOf(reasons: RebootGate["reasons"]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { code } of reasons) counts.set(code, (counts.get(code) ?? 0) + 1);
  return counts;
}

function lockFamilies({ world, settings }: GateMetricsState): readonly string[] {
  const names = new Set(world.nodes.map(({ name }) => name));
  const kured = world.daemonSets.filter(({ namespace, name }) => settings.kured.includes(`${namespace}/${name}`));
  const locks = kured.flatMap(({ namespace, name, kuredLock }) =>
    kuredLock === undefined ? [] : parseKuredLock(`${namespace}/${name}`, kuredLock, world.nowMs),
  );
  const stranded = kured.length > 0 && locks.length === 0 ? world.nodes.filter(isStranded) : [];
  return [
    metricFamily(
      "levee_gate_kured_lock",
      "1 for each lock of kured; orphaned says whether its holder is no node of this cluster",
      locks.map((lock): MetricRow => [lockLabels(lock, names), 1]),
    ),
    metricFamily(
      "levee_gate_stranded_node",
      "1 for each node that is Ready and cordoned while nobody holds kured's lock",
      stranded.slice(0, nodesMax).map(({ name }): MetricRow => [`{node="${name}"}`, 1]),
    ),
  ];
}

function isStranded({ isReady, isCordoned }: World["nodes"][number]): boolean {
  return isReady && isCordoned === true;
}

/** The holder is named only if it is a node: anybody who may patch the DaemonSet writes anything there. */
function lockLabels({ daemonSet, holder }: KuredLock, names: ReadonlySet<string>): string {
  const isNode = names.has(holder);
  return `{daemonset="${daemonSet}",node="${isNode ? holder : ""}",orphaned="${isNode ? "false" : "true"}"}`;
}
