import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { isSelected } from "../../config/pod-selector.ts";
import type { KubeAccess } from "../../kube/access/access.ts";
import type { FollowableApi } from "../../kube/client/api.ts";
import { ApiClient } from "../../kube/client/api-client.ts";
import type { NamesPod } from "../../kube/watch/project.ts";
import { ClusterView } from "../../kube/watch/cluster-view.ts";
import { kubeGate } from "../gate/kube-gate.ts";
import { ClaimTeller } from "../tell/claim-teller.ts";
import { KubeEventTeller } from "../tell/kube-event-teller.ts";
import { registerKubeMetrics } from "./kube-metrics.ts";
import { kubeNotices } from "./kube-notices.ts";
import { KubeStatusTeller } from "../tell/kube-status-teller.ts";
import { readDryRun } from "./read-dry-run.ts";
import { LateClaims } from "./late-claims.ts";
import { kubeView } from "./kube-view.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Source } from "./source.ts";

interface ClusterOptions {
  readonly config: Pick<DaemonConfig, "criticalPods" | "claimNetworkData">;
  readonly access: KubeAccess;
  readonly nodeName: string;
  /** The daemon's own; undefined for a daemon that is no pod of the cluster. */
  readonly namespace: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  /** The server behind `access`; reached over the network by default. */
  readonly api?: FollowableApi & { close(): void };
}

/** Its outboxes say how much waits in them. */
export interface KubeSource extends Source {
  readonly eventTeller: KubeEventTeller;
  readonly statusTeller: KubeStatusTeller;
}

/** The API server as source. Opening does not wait for the server: the local copy fills when it answers. */
export function openCluster(options: ClusterOptions): KubeSource {
  const { config, access, nodeName, namespace, clock, logger, metrics } = options;
  const { api = new ApiClient({ access, clock }) } = options;
  const isNamed: NamesPod = (of, labels) => isSelected(config.criticalPods, of, labels);
  const cluster = new ClusterView({ api, clock, logger, nodeName, isNamed });
  const isUsed = (): boolean => [...cluster.pods()].some((pod) => pod.claims !== undefined);
  const claims = new LateClaims({ api, clock, logger, nodeName, isUsed });
  const view = kubeView(cluster, { server: access.server, clock, claims });
  const helpOfStatuses = "Network-status annotations by outcome";
  const statuses = metrics.counter("levee_status_published_total", helpOfStatuses, ["outcome"]);
  const events = metrics.counter("levee_events_total", "Events by outcome", ["outcome"]);
  const onFate = (outcome: string): void => statuses.add([outcome]);
  const statusTeller = new KubeStatusTeller({ api, view, clock, logger, onFate });
  const onOutcome = (outcome: string): void => events.add([outcome]);
  const eventTeller = new KubeEventTeller({ api, clock, logger, nodeName, onOutcome });
  const claimTeller = config.claimNetworkData ? new ClaimTeller({ api, clock, logger, view }) : undefined;
  const parts = { server: access.server, cluster, statusTeller, eventTeller, claimTeller };
  registerKubeMetrics(metrics, parts);
  logger.info("Pods and networks come from the API server", { server: access.server, node: nodeName });
  return {
    view,
    eventTeller,
    statusTeller,
    claimTeller,
    nodeName,
    gate: kubeGate({ api, nodeName, namespace, pods: () => cluster.pods() }),
    dryRun: (network, name) => readDryRun(api, network, name),
    health: () => {
      const { pods, networks } = cluster.health();
      return [pods, networks];
    },
    notices: () => kubeNotices(parts),
    async close() {
      await statusTeller.close();
      eventTeller.close();
      claimTeller?.close();
      await claims.close();
      await cluster.close();
      api.close();
    },
  };
}
