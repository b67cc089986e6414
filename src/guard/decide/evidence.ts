import type { Evidence } from "../decision/decision.ts";
import { evidenceMax, textCharsMax } from "../decision/limits.ts";
import type { Cause } from "../detect/cause.ts";
import type { CauseChain } from "../detect/cause-chain.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { symptomText, type Symptom } from "../detect/symptoms.ts";
import { timeText } from "../json-values.ts";
import type { NodeViewFacts, World } from "../facts/world.ts";

/** What the detector saw of the cause itself: a fact, its number, and a detail. */
export type SeenRow = readonly [fact: string, value: number, detail?: string];

/** The numbers behind a proposal, at the time it was made. */
export function evidenceOf(
  rows: readonly SeenRow[],
  { cause, chain, world }: { readonly cause: Cause; readonly chain: CauseChain; readonly world: World },
): readonly Evidence[] {
  const at = timeText(world.nowMs);
  const one = ([fact, value, detail = ""]: SeenRow): Evidence => ({
    fact,
    value,
    at,
    detail: foreignText(detail, textCharsMax),
  });
  const nodes = cause.cause === "RebootBacklog" ? [] : [...cause.nodes];
  return [
    ...rows.map(one),
    ...nodes.slice(0, 10).map(([node, count]) => one(["of these, on one node", count, node])),
    ...world.nodeViews
      .filter(({ node }) => cause.cause !== "RebootBacklog" && cause.nodes.has(node))
      .slice(0, 10)
      .map((view) => ({
        ...one(["calls waiting in a node's daemon", view.waiting, viewText(view)]),
        at: timeText(view.atMs),
      })),
    ...chain.linked.map((symptom) => one([factOf(symptom), numberOf(symptom), symptomText(symptom)])),
    // Without any alert, the guard may not have an Alertmanager to ask.
    ...(world.alerts.length === 0
      ? []
      : [one(["alerts that this cause does not explain", chain.unlinkedAlerts.length])]),
  ].slice(0, evidenceMax);
}

function viewText({ node, memoryBytes, memoryLimitBytes, leaks, oomKills = 0 }: NodeViewFacts): string {
  const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  const limit = memoryLimitBytes === undefined ? "" : ` of ${mib(memoryLimitBytes)}`;
  return [
    node,
    ...(memoryBytes === undefined ? [] : [`it uses ${mib(memoryBytes)}${limit}`]),
    ...(leaks === 0 ? [] : [`${leaks} leaks`]),
    ...(oomKills === 0 ? [] : [`${oomKills} processes killed for memory`]),
  ].join(", ");
}

function factOf({ kind }: Symptom): string {
  switch (kind) {
    case "CniDaemonKilled":
      return "restarts of a CNI daemon";
    case "SandboxesFail":
      return "sandboxes that could not be created on one node";
    case "WorkloadStuck":
      return "pods of one workload that do not start";
    case "ApplicationsUnknown":
      return "Argo CD Applications that are Unknown";
  }
}

function numberOf(symptom: Symptom): number {
  switch (symptom.kind) {
    case "CniDaemonKilled":
      return symptom.daemon.restarts;
    case "SandboxesFail":
      return symptom.count;
    case "WorkloadStuck":
      return symptom.workload.pods.length;
    case "ApplicationsUnknown":
      return symptom.unknown;
  }
}
