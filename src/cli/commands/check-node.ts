import type { Command } from "commander";
import { askReports, type NodeOptions } from "../check/ask-reports.ts";
import { networkRows, networkTable } from "../check/network-table.ts";
import { nodeReportText, summaryText } from "../check/node-report-text.ts";
import type { NodeReport } from "../check/node-report.ts";
import { thisNode } from "../check/this-node.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { withoutOptionsAbove } from "../help-form.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";
import type { Shell } from "../shell.ts";

interface CheckNodeOptions extends NodeOptions {
  readonly wait?: boolean;
  readonly failOn?: string;
}

export function addCheckNode(check: Command, shell: Shell): void {
  const command = check
    .command("node")
    .argument("[name...]", "nodes of the cluster; without a name, this machine")
    .description("Check this node, or named nodes of the cluster")
    .option("-a, --all", "check every node of the cluster")
    .option(
      "--metrics-port <port>",
      "with names or --all: the port that the daemons' metricsPort sets",
      metricsPortDefault,
    )
    .option("--kubeconfig <file>", "kubeconfig file, as for kubectl (KUBECONFIG; default: ~/.kube/config)")
    .option("--context <name>", "context in the kubeconfig")
    .addHelpText(
      "after",
      [
        "\nWithout a name it asks the daemon of this machine on its socket, with names or --all the daemons of the nodes",
        "through the API server. √ passed, ‼ warning, × failed. A network is not ready on a node that lacks its bridge,",
        "its master interface or a plugin's program.",
        "-o table (of several nodes only warnings and failures), wide (all lines), json or yaml.",
        examples("levee check node", "levee check node --all", "levee check node worker-1 worker-2 -o json"),
        "Exit status: 0 no check fails, 1 a check fails (warnings do not count) or the cluster cannot be reached,",
        "2 wrong command line, 130 interrupted.",
      ].join("\n"),
    );
  withoutOptionsAbove(command, ["--namespace", "--wait", "--timeout", "--fail-on"]);
  command.action(async (names: readonly string[]) => {
    // Commander gives the options that `levee check` also has to that command.
    const options = command.optsWithGlobals<CheckNodeOptions>();
    if (options.wait === true || options.failOn !== "error")
      throw usageFailure(
        "Cannot use --wait or --fail-on with nodes: they are options of levee check",
        "levee check node",
      );
    const context = contextOf(command, shell);
    metricsPortOf(options.metricsPort, metricsPortDefault);
    const isCluster = options.all === true || names.length > 0;
    const reports = isCluster ? await askReports(context, names, options) : [await localReport(context)];
    show(context, reports, isCluster);
    const bad = reports.filter(({ isGood }) => !isGood).length;
    if (bad > 0) throw new CommandFailure("check-failed", failureOf(reports, bad));
  });
}

function localReport(context: Context): Promise<NodeReport> {
  return withProgress(context.shell, "Asking the daemon", () => thisNode(context));
}

function show({ shell, settings }: Context, reports: readonly NodeReport[], isCluster: boolean): void {
  const paint = paintFor(shell.stdout, shell.env);
  const networks = networkRows(reports);
  const nodes = reports.map(({ node }) => node);
  const text = (isFull: boolean): string => {
    const parts = reports.map((report) => nodeReportText(report, { paint, isFull: isFull || reports.length === 1 }));
    const table = isCluster ? networkTable(networks, nodes, isFull) : "";
    return [...parts, ...(table === "" ? [] : [table.trimEnd().concat("\n")]), summaryText(reports, paint)].join("\n");
  };
  print(shell.stdout, settings.output, {
    value: { isGood: reports.every(({ isGood }) => isGood), nodes: reports, networks },
    text: () => text(false),
    wide: () => text(true),
  });
}

function failureOf(reports: readonly NodeReport[], bad: number): string {
  return reports.length === 1
    ? "The node is not ready: see the lines marked ×"
    : `${bad} of ${reports.length} nodes are not ready: see the lines marked ×`;
}
