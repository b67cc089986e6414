import { missingNetworksCheck, orphanLeasesCheck } from "../../readiness/garbage-rules.ts";
import type { Lease } from "../../hands/lease.ts";
import type { MissingNetwork } from "./missing-networks.ts";
import type { NetworkRoom } from "../../lint/addresses/pool-room.ts";
import type { NodeChecks } from "../health/node-checks.ts";
import type { Labels, MetricsRegistry, Sample } from "../metrics/metrics-registry.ts";

/** The results of our own garbage collection's last look. */
interface GarbageKnowledge {
  readonly orphans: () => readonly Lease[];
  readonly missing: () => readonly MissingNetwork[];
  readonly rooms: () => readonly NetworkRoom[];
}

/** Shows them in metrics, `/readyz` and `levee check node`. */
export function registerGarbage(
  { orphans, missing, rooms }: GarbageKnowledge,
  shown: { metrics: MetricsRegistry; checks: NodeChecks },
): void {
  shown.metrics.gauge("levee_orphan_leases", "Addresses of host-local without a sandbox", () =>
    counted(orphans(), ({ network }) => ({ network })),
  );
  shown.metrics.gauge("levee_missing_networks", "Networks that running pods asked for and do not have", () =>
    counted(missing(), ({ namespace }) => ({ namespace })),
  );
  shown.metrics.gauge("levee_network_addresses", "Addresses that host-local may give to pods of this node", () =>
    rooms().map(({ network, total }) => ({ labels: { network }, value: total })),
  );
  shown.metrics.gauge("levee_network_addresses_left", "Addresses of these that no container holds", () =>
    rooms().map(({ network, left }) => ({ labels: { network }, value: left })),
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
