import type { Dependency } from "../facts/depended-on.ts";
import type { World } from "../facts/world.ts";
import type { Symptom } from "../detect/symptoms.ts";

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
