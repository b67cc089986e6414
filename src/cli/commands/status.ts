import type { Command } from "commander";
import { isAway, lookAtCluster } from "../check/cluster-checks.ts";
import {
  addClusterOptions,
  addWaitOptions,
  clusterExitText,
  namespaceOf,
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
import { metricsPortOf } from "../cluster/port-option.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import { seeAlerts } from "../cluster/status/alerts.ts";
import { isWell, statusText } from "../cluster/status/status-text.ts";
import { statusView, type StatusView } from "../cluster/status/status-view.ts";
import type { World } from "../world.ts";
import { metricsPortDefault } from "./check-node.ts";

interface StatusOptions extends ClusterCommandOptions, WaitOptions {
  readonly metricsPort: string;
  readonly alertmanager?: string;
}

export function addStatus(program: Command, world: World): void {
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
      "[https:]NAMESPACE/SERVICE:PORT (default: alertmanager-operated:9093, wherever it is)",
    )
    .addHelpText(
      "after",
      `${examples("levee status", "levee status --wait --timeout 10m", "levee status -o json | jq .decisions")}\n${clusterExitText}`,
    );
  command.action(async (options: StatusOptions) => {
    const { settings } = contextOf(command, world);
    const view = await look(world, options);
    const paint = paintFor(world.stdout, world.env);
    print(world.stdout, settings.output, {
      value: view,
      text: () => statusText(view, world.clock.wallMs(), paint),
    });
    if (!isWell(view))
      throw new CommandFailure("status-failed", "Cannot call the cluster well: see Failed", { remedy: "levee check" });
  });
}

/** A server that is being started is waited for as well. */
type StatusLook = { readonly view: StatusView } | { readonly away: CommandFailure };

async function look(world: World, options: StatusOptions): Promise<StatusView> {
  const namespace = namespaceOf(options);
  const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
  const waitMs = waitMsOf(options);
  return await withCluster(world, options, async (api) => {
    const asking = { api, signal: world.interrupted };
    const once = async (): Promise<StatusLook> => {
      const { categories, ...seen } = await lookAtCluster(asking, {
        namespace,
        metricsPort,
        nowMs: world.clock.wallMs(),
      });
      if (isAway(categories)) return { away: clusterAway(categories) };
      return { view: statusView({ ...seen, categories }, await seeAlerts(asking, options.alertmanager)) };
    };
    const isGood = (seen: StatusLook): boolean => "view" in seen && isWell(seen.view);
    const found = await withProgress(world, "Looking at the cluster", () =>
      untilWell(world, waitMs, { look: once, isWell: isGood }),
    );
    if ("away" in found) throw found.away;
    return found.view;
  });
}
