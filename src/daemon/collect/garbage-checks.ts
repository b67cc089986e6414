import { missingNetworksCheck, orphanLeasesCheck } from "../../readiness/garbage-rules.ts";
import type { Lease } from "./leases/leases.ts";
import type { MissingNetwork } from "./missing-networks.ts";
import type { NodeChecks } from "../health/node-checks.ts";
import type { Labels, MetricsRegistry, Sample } from "../metrics/metrics-registry.ts";

/** What our own garbage collection knows between two looks. */
export interface GarbageKnowledge {
  readonly orphans: () => readonly Lease[];
  readonly missing: () => readonly MissingNetwork[];
}

/** Makes it known to Prometheus, `/readyz` and `levee check node`; all of them read it when they are asked. */
export function tellOfGarbage(
  { orphans, missing }: GarbageKnowledge,
  shown: { metrics: MetricsRegistry; checks: NodeChecks },
): void {
  shown.metrics.gauge("levee_orphan_leases", "Addresses of host-local whose container nobody knows", () =>
    counted(orphans(), ({ network }) => ({ network })),
  );
  shown.metrics.gauge("levee_missing_networks", "Networks that running pods asked for and do not have", () =>
    counted(missing(), ({ namespace }) => ({ namespace })),
  );
  shown.checks.add(() => [
    missingNetworksCheck({ missing: missing().map((one) => `${one.namespace}/${one.pod}: ${one.network}`) }),
    orphanLeasesCheck({ orphans: orphans().length }),
  ]);
}

function counted<T>(items: readonly T[], labelsOf: (item: T) => Labels): readonly Sample[] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(labelsOf(item)));
  return [...groups.values()].flatMap(([first, ...rest]) =>
    first === undefined ? [] : [{ labels: labelsOf(first), value: rest.length + 1 }],
  );
}
