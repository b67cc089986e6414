import { criticalLabel } from "../facts/critical-label.ts";
import type { Dependency } from "../facts/depended-on.ts";
import type { World } from "../facts/world.ts";
import type { Symptom } from "../detect/symptoms.ts";
import { kubectl } from "./kubectl-lines.ts";

/** For a plan that makes a workload smaller in a namespace that nobody named, although objects show that others depend on it. */
export function neededNotes(namespace: string, { dependencies = [] }: World): readonly string[] {
  const needed = dependencies.filter((one) => one.namespace === namespace);
  if (needed.length === 0) return [];
  const line = kubectl("label", "namespace", namespace, `${criticalLabel}=true`);
  return [
    `Others depend on ${reasonText([namespace, needed])}, and this makes a workload there smaller. To leave such a change to a person in future: ${line}`,
  ];
}

/** Its pods go first anyway. */
const systemNamespace = "kube-system";

/**
 * Proposes what to name critical: namespaces that others depend on and whose workloads the cause keeps from starting. The
 * guard cannot see the daemons' settings, so they may be named already.
 */
export function criticalNotes(linked: readonly Symptom[], { dependencies = [] }: World): readonly string[] {
  const stuck = new Set(
    linked.flatMap((symptom) => (symptom.kind === "WorkloadStuck" ? [symptom.workload.namespace] : [])),
  );
  const needed = dependencies.filter(({ namespace }) => stuck.has(namespace) && namespace !== systemNamespace);
  if (needed.length === 0) return [];
  const reasons = [...Map.groupBy(needed, ({ namespace }) => namespace)].map(reasonText);
  const names = JSON.stringify([...new Set(needed.map(({ namespace }) => namespace))]);
  return [
    `Others depend on ${reasons.join(", ")}, whose pods wait behind this cause. To let them go first next time, set "criticalPods": ${names} in the daemons' settings`,
  ];
}

function reasonText([namespace, found]: readonly [string, readonly Dependency[]]): string {
  return `${namespace} (${[...new Set(found.map(({ why }) => why))].join(", ")})`;
}
