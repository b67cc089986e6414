import { criticalLabel, isNamedCritical } from "../../guard/facts/critical-label.ts";
import type { SiteNeeds } from "../cluster/site-needs.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { plural } from "../terminal/plural.ts";
import { goodLine, unknownLine, warningLine, type ClusterLine } from "./cluster-line.ts";

/** Whether what others depend on goes first in a storm; else the setting that lets it. */
export function criticalLine(
  snapshot: Pick<Snapshot, "siteNeeds" | "namespaces" | "guard" | "namespace">,
): ClusterLine {
  const { siteNeeds } = snapshot;
  if (!("value" in siteNeeds)) return unknownLine("LVE0405", siteNeeds);
  const { told } = siteNeeds.value;
  if (told === undefined) return goodLine("LVE0405", "Levee's daemon is not installed");
  const reasons = reasonsOf(siteNeeds.value);
  const missing = [...reasons.keys()].filter((namespace) => !told.namespaces.has(namespace)).toSorted();
  const open = unheld(told.namespaces, snapshot);
  if (open.length > 0 && (missing.length === 0 || told.isChosen)) {
    const line = `kubectl label namespace ${open.join(" ")} ${criticalLabel}=true`;
    return warningLine(
      "LVE0405",
      `the guard may make workloads smaller in ${plural(open.length, "namespace")} of criticalPods: ${line}`,
    );
  }
  if (missing.length === 0) return goodLine("LVE0405", plural(reasons.size, "namespace"));
  const evidence = missing.map((namespace) => [namespace, (reasons.get(namespace) ?? []).join(", ")] as const);
  // Who has set the list has chosen what may wait.
  const lineOf = told.isChosen ? goodLine : warningLine;
  const setting = told.isChosen ? "criticalPods leaves them out" : `"criticalPods": ${JSON.stringify(missing)}`;
  const detail = `${plural(missing.length, "namespace")} may wait behind all others: ${setting}`;
  return lineOf("LVE0405", detail, Object.fromEntries(evidence));
}

/** Namespaces that go first and that the guard's policies do not hold, because they lack the label. */
function unheld(
  named: ReadonlySet<string>,
  { namespaces, guard, namespace: home }: Pick<Snapshot, "namespaces" | "guard" | "namespace">,
): readonly string[] {
  if (!("value" in namespaces) || !("value" in guard) || guard.value === undefined) return [];
  const held = new Set(["kube-system", home]);
  return namespaces.value
    .map(({ name }) => name)
    .filter((name) => named.has(name) && !held.has(name) && !isNamedCritical(name, namespaces.value))
    .toSorted();
}

function reasonsOf({ dependencies }: SiteNeeds): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>();
  for (const { namespace, why } of dependencies) {
    const known = reasons.get(namespace) ?? [];
    if (!known.includes(why)) known.push(why);
    reasons.set(namespace, known);
  }
  return reasons;
}
