import { openKubeApi } from "../cluster/kube-access.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import type { Context } from "../context.ts";
import { interruptedFailure } from "../failure.ts";
import { plural } from "../terminal/plural.ts";
import { withProgress } from "../terminal/progress.ts";
import type { NodeOptions } from "./ask-reports.ts";
import { dryRunNodes } from "./dry-run-cluster.ts";
import { dryRunHere } from "./dry-run-node.ts";
import { refusedDryRun, type DryRunResult } from "./dry-run-result.ts";
import { isPassed, withDryRun, type NetworkVerdict } from "./network-verdicts.ts";

type Tried = (network: string, nodes: readonly string[]) => Promise<ReadonlyMap<string, DryRunResult>>;

/** Tries each network on the nodes where the rules find nothing wrong, one network after the other. */
export async function tryNetworks(
  context: Context,
  verdicts: readonly NetworkVerdict[],
  options: NodeOptions & { readonly isCluster: boolean },
): Promise<readonly NetworkVerdict[]> {
  return options.isCluster
    ? await inCluster(context, options, (tried) => tryAll(context, verdicts, tried))
    : await tryAll(context, verdicts, async (network, nodes) => {
        const result = await dryRunHere(context, network);
        return new Map(nodes.map((node) => [node, result]));
      });
}

async function tryAll(
  { shell }: Context,
  verdicts: readonly NetworkVerdict[],
  tried: Tried,
): Promise<readonly NetworkVerdict[]> {
  const done: NetworkVerdict[] = [];
  // A name without a namespace may be that of a definition and of the primary network. Then the definition is meant.
  const isAlone = !verdicts.some(({ network }) => network.includes("/"));
  for (const [network, own] of Map.groupBy(verdicts, (verdict) => verdict.network)) {
    const nodes = own.filter(isPassed).map(({ node }) => node);
    const what = `Trying ${network} on ${plural(nodes.length, "node")}`;
    const isNamed = network.includes("/");
    const results =
      nodes.length === 0
        ? undefined
        : isNamed
          ? await withProgress(shell, what, () => tried(network, nodes))
          : isAlone
            ? new Map(nodes.map((node) => [node, noDefinition]))
            : undefined;
    done.push(...own.map((verdict) => withDryRun(verdict, results?.get(verdict.node))));
  }
  return done;
}

const noDefinition = refusedDryRun("it has no NetworkAttachmentDefinition, as the primary network has none", "");

async function inCluster<T>({ shell }: Context, options: NodeOptions, work: (tried: Tried) => Promise<T>): Promise<T> {
  const api = await openKubeApi(shell, options);
  try {
    const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
    const asking = { api, metricsPort, signal: shell.interrupted, clock: shell.clock };
    return await work((network, nodes) => dryRunNodes({ ...asking, network, nodes }));
  } catch (thrown) {
    if (shell.interrupted.aborted) throw interruptedFailure("the dry run");
    throw thrown;
  } finally {
    api.close();
  }
}
