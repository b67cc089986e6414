import type { SiteNeeds } from "../cluster/site-needs.ts";
import type { Snapshot } from "../cluster/snapshot.ts";
import { plural } from "../terminal/plural.ts";
import { goodLine, unknownLine, warningLine, type ClusterLine } from "./cluster-line.ts";

/** Whether what others depend on goes first in a storm; else the setting that lets it. */
export function criticalLine({ siteNeeds }: Pick<Snapshot, "siteNeeds">): ClusterLine {
  if (!("value" in siteNeeds)) return unknownLine("LVE0405", siteNeeds);
  const { told } = siteNeeds.value;
  if (told === undefined) return goodLine("LVE0405", "Levee's daemon is not installed");
  const reasons = reasonsOf(siteNeeds.value);
  const missing = [...reasons.keys()].filter((namespace) => !told.namespaces.has(namespace)).toSorted();
  if (missing.length === 0) return goodLine("LVE0405", plural(reasons.size, "namespace"));
  const evidence = missing.map((namespace) => [namespace, (reasons.get(namespace) ?? []).join(", ")] as const);
  // Who has set the list has chosen what may wait.
  const lineOf = told.isChosen ? goodLine : warningLine;
  const setting = told.isChosen ? "criticalPods leaves them out" : `"criticalPods": ${JSON.stringify(missing)}`;
  const detail = `${plural(missing.length, "namespace")} may wait behind all others: ${setting}`;
  return lineOf("LVE0405", detail, Object.fromEntries(evidence));
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
