import type { MachineModel } from "../../../sim/machine/machine-model.ts";
import type { KubeOptions } from "../../cluster/kube-access.ts";
import { withCluster } from "../../cluster/with-cluster.ts";
import type { Context } from "../../context.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { paintFor } from "../../terminal/paint.ts";
import { print } from "../../terminal/print.ts";
import { withProgress } from "../../terminal/progress.ts";
import { simProgress } from "../sim-progress.ts";
import { forecast, type NodeForecast } from "./forecast.ts";
import { forecastText, roomOf } from "./forecast-text.ts";
import { readShape, type ClusterShape } from "./read-shape.ts";

interface ForecastWords extends KubeOptions {
  readonly metricsPort: number;
  readonly podsMax: number;
  readonly model: MachineModel;
}

/** Reads the cluster, simulates its nodes, and says where each breaks. It changes nothing. */
export async function forecastCluster(context: Context, words: ForecastWords): Promise<void> {
  const { shell, settings } = context;
  const shape = await withProgress(shell, "Reading the cluster", () =>
    withCluster(shell, words, (api) => readShape({ api, signal: shell.interrupted }, words.metricsPort)),
  );
  const nodes = await forecastNodes(context, shape, words);
  print(shell.stdout, settings.output, {
    value: forecastValue(shape, nodes),
    text: () => forecastText(shape, nodes, paintFor(shell.stdout, shell.env)),
  });
  if (shell.interrupted.aborted)
    throw new CommandFailure("interrupted", `Interrupted after ${nodes.length} of ${shape.nodes.length} nodes`, {
      exitCode: exitCode.interrupted,
    });
  const weak = nodes.filter((node) => roomOf(node) < 0);
  if (weak.length > 0)
    throw new CommandFailure(
      "storm-broke",
      `${weak.length} of ${nodes.length} nodes do not hold their own pods at once`,
      {
        remedy: "levee sim storm --limit with more, or fewer pods per node",
      },
    );
}

async function forecastNodes(
  { shell }: Context,
  shape: ClusterShape,
  { model, podsMax }: ForecastWords,
): Promise<readonly NodeForecast[]> {
  const progress = simProgress(shell, "Simulating the nodes");
  const nodes = await forecast({
    shape,
    model,
    podsMax,
    isInterrupted() {
      progress.tick();
      return shell.interrupted.aborted;
    },
    onStorm: (node, storm) => progress.say(`Simulating ${storm} on ${node}`),
  });
  progress.end();
  return nodes;
}

/** For programs. */
function forecastValue({ plugins, unseen }: ClusterShape, nodes: readonly NodeForecast[]): unknown {
  return {
    nodes: nodes.map((forecast) => {
      const { node, ...found } = forecast;
      return { ...node, ...found, room: roomOf(forecast) };
    }),
    plugins:
      plugins === undefined ? undefined : { ...plugins, byPlugin: Object.fromEntries(plugins.byPlugin.entries()) },
    unseen,
  };
}
