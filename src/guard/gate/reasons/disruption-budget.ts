import type { GateReason } from "../../../wire/gate-codes.ts";
import type { NodeFacts } from "../../facts/world.ts";
import type { GateFacts } from "../gate-facts.ts";

const budgetsMax = 5;

/** A PodDisruptionBudget allows nothing and covers a pod of this node: a drain would never end. */
export function disruptionBudget({ name }: NodeFacts, { shutBudgets, nowMs }: GateFacts): readonly GateReason[] {
  const here = shutBudgets.filter(({ podsByNode }) => podsByNode === undefined || podsByNode.has(name));
  return here.slice(0, budgetsMax).map((budget) => ({
    code: "DisruptionBudget",
    message: `the PodDisruptionBudget ${budget.namespace}/${budget.name} allows no eviction and covers ${budget.podsByNode === undefined ? "pods that are not looked up yet" : `the pod ${budget.podsByNode.get(name)} of node ${name}`}`,
    sinceMs: budget.sinceMs || nowMs,
    object: `PodDisruptionBudget/${budget.namespace}/${budget.name}`,
    remedy: `bring its missing pods back, or give the workload another replica: kubectl -n ${budget.namespace} describe pdb ${budget.name}`,
  }));
}
