import type { MachineModel } from "../../../sim/machine/machine-model.ts";
import type { KubeOptions } from "../../cluster/kube-access.ts";
import { withCluster } from "../../cluster/with-cluster.ts";
import type { Context } from "../../context.ts";
import { CommandFailure, exitCode } from "../../failure.ts";
import { paintFor } from "../../terminal/paint.ts";
import { print } from "../../terminal/print.ts";
import { forecast, modelOf } from "./forecast.ts";
import { forecastText, roomOf } from "./forecast-text.ts";
import { readShape } from "./read-shape.ts";

interface ForecastWords extends KubeOptions {
  readonly metricsPort: number;
  readonly podsMax: number;
  readonly model: MachineModel;
}

const quietMs = 2_000;
const lineMs = 10_000;

/** Reads the cluster, simulates its nodes, and says where each breaks. It changes nothing. */
export async function forecastCluster(context: Context, words: ForecastWords): Promise<void> {
  const { shell, settings } = context;
  const shape = await withCluster(shell, words, (api) =>
    readShape({ api, signal: shell.interrupted }, words.metricsPort),
  );
  const startMs = shell.clock.monotonicMs();
  let shownMs = startMs + quietMs - lineMs;
  const nodes = await forecast({
    shape,
    model: modelOf(words.model, shape),
    podsMax: words.podsMax,
    isInterrupted: () => shell.interrupted.aborted,
    onStorm(node, pods) {
      const nowMs = shell.clock.monotonicMs();
      if (nowMs - shownMs < lineMs) return;
      shownMs = nowMs;
      shell.stderr.write(`Simulating ${pods} pods on ${node} (${Math.round((nowMs - startMs) / 1_000)} s)\n`);
    },
  });
  print(shell.stdout, settings.output, {
    value: { ...shape, nodes: nodes.map((node) => ({ ...node, room: roomOf(node) })) },
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
