import type { Evidence } from "../decision/decision.ts";
import { evidenceMax, textCharsMax } from "../decision/limits.ts";
import type { Avalanche } from "../detect/avalanche.ts";
import type { CauseChain } from "../detect/cause-chain.ts";
import { foreignText } from "../detect/foreign-text.ts";
import { symptomText, type Symptom } from "../detect/symptoms.ts";
import { timeText } from "../json-values.ts";
import type { NodeViewFacts, World } from "../facts/world.ts";

/** The numbers behind a proposal, at the time it was made. */
export function evidenceOf(seen: {
  readonly avalanche: Avalanche;
  readonly chain: CauseChain;
  readonly world: World;
}): readonly Evidence[] {
  const { avalanche, chain, world } = seen;
  const at = timeText(world.nowMs);
  const one = (fact: string, value: number, detail = ""): Evidence => ({
    fact,
    value,
    at,
    detail: foreignText(detail, textCharsMax),
  });
  return [
    one(
      "ownerless pods that do not start",
      avalanche.members.length,
      `in ${avalanche.namespace}, shape ${avalanche.shape}`,
    ),
    one("of these, created in the last half hour", avalanche.recent),
    ...[...avalanche.nodes].slice(0, 10).map(([node, count]) => one("of these, on one node", count, node)),
    ...world.nodeViews
      .filter(({ node }) => avalanche.nodes.has(node))
      .slice(0, 10)
      .map((view) => ({
        ...one("calls waiting in a node's daemon", view.waiting, viewText(view)),
        at: timeText(view.atMs),
      })),
    ...chain.linked.map((symptom) => one(factOf(symptom), numberOf(symptom), symptomText(symptom))),
    // Without any alert, the guard may not have an Alertmanager to ask.
    ...(world.alerts.length === 0 ? [] : [one("alerts that this cause does not explain", chain.unlinkedAlerts.length)]),
  ].slice(0, evidenceMax);
}

function viewText({ node, memoryBytes, memoryLimitBytes, oomKills = 0 }: NodeViewFacts): string {
  const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;
  const limit = memoryLimitBytes === undefined ? "" : ` of ${mib(memoryLimitBytes)}`;
  return [
    node,
    ...(memoryBytes === undefined ? [] : [`it uses ${mib(memoryBytes)}${limit}`]),
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
