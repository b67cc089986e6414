import type { Clock } from "../../base/clock.ts";
import { LeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { silentEventTeller } from "../tell/event-teller.ts";
import { accessOf, ownNamespace, type ClusterPlace } from "./kube-access.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Source } from "./source.ts";
import { silentStatusTeller } from "../tell/status-teller.ts";
import { emptyView } from "../../view/view.ts";
import type { DirectoryProblem } from "../../directory/directory-problem.ts";

interface SourceOptions {
  readonly config: DaemonConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly cluster: ClusterPlace;
}

/**
 * A folder when one is set; else the cluster around the daemon; else the cluster of a kubeconfig. Only the code of that
 * one is loaded.
 */
export async function openSource(options: SourceOptions): Promise<Source> {
  const { config, cluster } = options;
  if (config.directory !== undefined) return openDirectory(config.directory, options);
  const access = await accessOf(config, cluster, options.clock);
  if (access === undefined) return noSource();
  const nodeName = nodeNameOf(cluster);
  const { openCluster } = await import("./kube-source.ts");
  return openCluster({ ...options, access, nodeName, namespace: await ownNamespace(cluster) });
}

/** Without a name, every node would watch the pods of the whole cluster. */
function nodeNameOf({ nodeName }: ClusterPlace): string {
  if (nodeName !== "") return nodeName;
  throw new LeveeError(
    "setting-invalid",
    "Cannot follow the pods of this node as its name is not known: MULTUS_NODE_NAME, LEVEE_NODE_NAME and the host name are empty; set MULTUS_NODE_NAME from spec.nodeName in the daemon's manifest",
  );
}

async function openDirectory(folder: string, { clock, logger }: SourceOptions): Promise<Source> {
  const [{ Directory }, { directoryView }] = await Promise.all([
    import("../../directory/directory.ts"),
    import("./directory-view.ts"),
  ]);
  const directory = await Directory.open({ folder, clock, logger });
  return {
    view: directoryView(directory),
    eventTeller: silentEventTeller,
    statusTeller: silentStatusTeller,
    notices: () => directory.problems().map(problemText),
    close: async () => directory.close(),
  };
}

function noSource(): Source {
  return {
    view: emptyView,
    eventTeller: silentEventTeller,
    statusTeller: silentStatusTeller,
    notices: () => [
      "Neither directory nor kubeconfig is set, and the daemon is not a pod of a cluster: calls that name a pod cannot be served",
    ],
    close: () => Promise.resolve(),
  };
}

function problemText(problem: DirectoryProblem): string {
  const place = problem.line === undefined ? problem.file : `${problem.file}:${problem.line}`;
  return place === "" ? problem.reason : `${place}: ${problem.reason}`;
}
