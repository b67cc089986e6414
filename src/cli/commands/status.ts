import type { Command } from "commander";
import { isClusterAway, lookAtCluster } from "../check/cluster-checks.ts";
import {
  addClusterOptions,
  addWaitOptions,
  clusterExitText,
  guardNamespaceOf,
  waitMsOf,
  type ClusterCommandOptions,
  type WaitOptions,
} from "../cluster/cluster-options.ts";
import { clusterAway } from "../cluster/cluster-away.ts";
import { untilWell } from "../cluster/until-well.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure } from "../failure.ts";
import { paintFor } from "../terminal/paint.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import { seeAlerts } from "../cluster/status/alerts.ts";
import { isWell, statusText } from "../cluster/status/status-text.ts";
import { statusView, type StatusView } from "../cluster/status/status-view.ts";
import type { Shell } from "../shell.ts";

interface StatusOptions extends ClusterCommandOptions, WaitOptions {
  readonly metricsPort: string;
  readonly alertmanager?: string;
}

export function addStatus(program: Command, shell: Shell): void {
  const command = addWaitOptions(
    addClusterOptions(
      program
        .command("status")
        .description("Show the cluster on one screen: daemons, nodes, guard, Decisions, pods, alerts"),
    ),
    "look again until nothing fails",
    "5m",
  )
    .option("--metrics-port <port>", "the daemons' metricsPort", metricsPortDefault)
    .option(
      "--alertmanager <service>",
      "[https:]NAMESPACE/SERVICE:PORT (default: alertmanager-operated:9093 in any namespace)",
    )
    .addHelpText(
      "after",
      `${examples("levee status", "levee status --wait --timeout 10m", "levee status -o json | jq .decisions")}\n${clusterExitText}`,
    );
  command.action(async (options: StatusOptions) => {
    const { settings } = contextOf(command, shell);
    const view = await look(shell, options);
    const paint = paintFor(shell.stdout, shell.env);
    print(shell.stdout, settings.output, {
      value: view,
      text: () => statusText(view, shell.clock.wallMs(), paint),
    });
    if (!isWell(view))
      throw new CommandFailure("status-failed", "The cluster is not well: see Failed", { remedy: "levee check" });
  });
}

/** With --wait the command also waits for an API server that is starting. */
type StatusLook = { readonly view: StatusView } | { readonly away: CommandFailure };

async function look(shell: Shell, options: StatusOptions): Promise<StatusView> {
  const namespace = guardNamespaceOf(options);
  const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
  const waitMs = waitMsOf(options);
  return await withCluster(shell, options, async (api) => {
    const asking = { api, signal: shell.interrupted };
    const once = async (): Promise<StatusLook> => {
      const { categories, ...seen } = await lookAtCluster(asking, {
        namespace,
        metricsPort,
        nowMs: shell.clock.wallMs(),
      });
      if (isClusterAway(categories)) return { away: clusterAway(categories) };
      return { view: statusView({ ...seen, categories }, await seeAlerts(asking, options.alertmanager)) };
    };
    const isGood = (seen: StatusLook): boolean => "view" in seen && isWell(seen.view);
    const found = await withProgress(shell, "Looking at the cluster", () =>
      untilWell(shell, waitMs, { look: once, isWell: isGood }),
    );
    if ("away" in found) throw found.away;
    return found.view;
  });
}
