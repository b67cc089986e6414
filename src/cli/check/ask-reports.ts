import { nodeNames, type NodesAsking } from "../cluster/ask-node.ts";
import { openKubeApi } from "../cluster/kube-access.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import type { Context } from "../context.ts";
import { CommandFailure, interruptedFailure, usageFailure } from "../failure.ts";
import { plural } from "../terminal/plural.ts";
import { withProgress } from "../terminal/progress.ts";
import { reportsOf } from "./cluster-nodes.ts";
import type { NodeReport } from "./node-report.ts";

export interface NodeOptions {
  readonly all?: boolean;
  readonly metricsPort: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Asks named nodes, or all, through the API server. */
export async function askReports(
  { shell }: Context,
  names: readonly string[],
  options: NodeOptions,
): Promise<readonly NodeReport[]> {
  if (options.all === true && names.length > 0)
    throw usageFailure("Cannot use node names together with --all", "levee check node --all");
  const api = await openKubeApi(shell, options);
  try {
    const cluster: NodesAsking = {
      api,
      metricsPort: metricsPortOf(options.metricsPort, metricsPortDefault),
      signal: shell.interrupted,
    };
    const nodes = options.all === true ? await nodeNames(cluster) : [...new Set(names)];
    if (nodes.length === 0)
      throw new CommandFailure("no-nodes", "Cannot check any node: the cluster has no Linux nodes");
    return await withProgress(shell, `Asking ${plural(nodes.length, "node")}`, () => reportsOf(nodes, cluster));
  } catch (thrown) {
    if (shell.interrupted.aborted) throw interruptedFailure("asking the nodes");
    throw thrown;
  } finally {
    api.close();
  }
}
