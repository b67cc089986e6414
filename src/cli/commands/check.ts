import type { Command } from "commander";
import { isClusterAway, lookAtCluster } from "../check/cluster-checks.ts";
import type { Category } from "../check/cluster-line.ts";
import { plural } from "../terminal/plural.ts";
import { clusterText, clusterValue, countLines, shortText } from "../check/cluster-text.ts";
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
import type { Context } from "../context.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { failOnOf, type FailOn } from "../fail-on.ts";
import { paintFor } from "../terminal/paint.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { print, type OutputFormat } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import type { Shell } from "../shell.ts";
import { addCheckNetwork } from "../check/check-network.ts";
import { addCheckNode } from "./check-node.ts";

interface CheckOptions extends ClusterCommandOptions, WaitOptions {
  readonly failOn: string;
  readonly metricsPort: string;
}

const formats: readonly OutputFormat[] = ["table", "wide", "json", "yaml", "short"];

export function addCheck(program: Command, shell: Shell): void {
  const check = addWaitOptions(
    addClusterOptions(
      program
        .command("check")
        .description("Check the cluster, or whether nodes can attach pods, and show what is missing")
        .argument("[what]", "node or network, to check those; without it, the cluster"),
    ),
    "check again until nothing fails",
    "5m",
  )
    .option("--fail-on <what>", "warning or error: the least severe result that fails the command", "error")
    .option("--metrics-port <port>", "the daemons' metricsPort", metricsPortDefault)
    .addHelpText(
      "after",
      `${[
        "\n√ passed, ‼ warning, × failed. Each warning and failure has a code: levee explain CODE.",
        "-o table, wide (all evidence), short (only warnings and failures), json or yaml.",
        examples(
          "levee check",
          "levee check --wait --fail-on warning",
          "levee check -o short",
          "levee check node --all",
        ),
      ].join("\n")}\n${clusterExitText}`,
    );
  check.action(async (what: string | undefined, options: CheckOptions) => {
    if (what !== undefined)
      throw usageFailure(
        `Cannot check ${JSON.stringify(what)}: only the cluster, nodes and networks can be checked`,
        "levee check node",
      );
    await checkCluster(contextOf(check, shell, formats), options);
  });
  addCheckNode(check, shell);
  addCheckNetwork(check, shell);
}

async function checkCluster(context: Context, options: CheckOptions): Promise<void> {
  const { shell } = context;
  const countsFrom = failOnOf(options.failOn);
  const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
  const namespace = guardNamespaceOf(options);
  const waitMs = waitMsOf(options);
  const categories = await withCluster(shell, options, (api) => {
    const asking = { api, signal: shell.interrupted };
    const look = async (): Promise<readonly Category[]> =>
      (await lookAtCluster(asking, { namespace, metricsPort, nowMs: shell.clock.wallMs() })).categories;
    const isWell = (seen: readonly Category[]): boolean => troubleOf(seen, countsFrom) === 0;
    return withProgress(shell, "Looking at the cluster", () => untilWell(shell, waitMs, { look, isWell }));
  });
  show(context, categories);
  endWith(categories, countsFrom);
}

function troubleOf(categories: readonly Category[], countsFrom: FailOn): number {
  return countLines(categories, "failed") + (countsFrom === "warning" ? countLines(categories, "warning") : 0);
}

function show({ shell, settings }: Context, categories: readonly Category[]): void {
  const paint = paintFor(shell.stdout, shell.env);
  print(shell.stdout, settings.output, {
    value: clusterValue(categories),
    text: () => clusterText(categories, { paint, isWide: false }),
    wide: () => clusterText(categories, { paint, isWide: true }),
    short: () => shortText(categories, paint),
  });
}

function endWith(categories: readonly Category[], countsFrom: FailOn): void {
  if (isClusterAway(categories)) throw clusterAway(categories);
  const count = troubleOf(categories, countsFrom);
  if (count > 0)
    throw new CommandFailure("check-failed", `The cluster is not well: ${failedText(count, countsFrom)}`, {
      remedy: "levee explain CODE explains each one",
    });
}

function failedText(count: number, countsFrom: FailOn): string {
  return `${plural(count, "check")} failed${countsFrom === "warning" ? " or warned" : ""}`;
}
