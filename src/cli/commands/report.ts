import { resolve } from "node:path";
import type { Command } from "commander";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import {
  addClusterOptions,
  clusterExitText,
  guardNamespaceOf,
  type ClusterCommandOptions,
} from "../cluster/cluster-options.ts";
import { metricsPortDefault, metricsPortOf } from "../cluster/port-option.ts";
import { parseProxiedService } from "../cluster/status/alerts.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import type { Context } from "../context.ts";
import { readApprovals, readDecision } from "../decisions/decision-source.ts";
import { postMortemText } from "../decisions/report/post-mortem-text.ts";
import { ownStorm } from "../decisions/report/storm/own-storm.ts";
import { stormReport } from "../decisions/report/storm/storm-report.ts";
import { stormText } from "../decisions/report/storm/storm-text.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import type { Screen, Shell } from "../shell.ts";
import { parseSpan } from "../storm/quantity.ts";
import { print } from "../terminal/print.ts";
import { withProgress } from "../terminal/progress.ts";

interface ReportOptions extends ClusterCommandOptions {
  readonly file?: string;
  readonly storm?: boolean;
  readonly node?: readonly string[];
  readonly thisNode?: boolean;
  readonly since?: string;
  readonly metricsPort: string;
  readonly prometheus?: string;
}

export function addReport(program: Command, shell: Shell): void {
  const command = addClusterOptions(
    program
      .command("report")
      .description("Write the post-mortem of a Decision, or of a storm that Levee held, as Markdown")
      .argument("[decision]", "name of the Decision")
      .option("--storm", "the largest storm in the flight recorders of all nodes, instead of a Decision")
      .option("--since <time>", "with --storm: only storms that ended within this time, such as 24h")
      .option("--node <name...>", "with --storm: ask only these nodes")
      .option("--this-node", "with --storm: read the flight recorder of this machine, and ask no cluster")
      .option("--metrics-port <port>", "with --storm: the daemons' metricsPort", metricsPortDefault)
      .option("--prometheus <namespace/service:port>", "with --storm: what Prometheus has of that time too")
      .option("--file <path>", "write to this file instead of printing"),
  ).addHelpText(
    "after",
    [
      "\nIt contains only what the Decision and its approvals hold. With --storm it asks the daemons of all nodes through the API",
      "server, which needs the right to get nodes/proxy; the report names nodes that could not be asked. With --this-node it reads",
      "STATE-DIR/recorder, and has the plugins' own words too. -o json and -o yaml print a storm for programs.",
      examples(
        "levee report recover-shop-1",
        "levee report --storm --since 24h --prometheus monitoring/prometheus-operated:9090",
        "levee report --storm --this-node",
        "levee report recover-shop-1 --file post-mortem.md",
      ),
      clusterExitText,
    ].join("\n"),
  );
  command.action(async (name: string | undefined, options: ReportOptions) => {
    const context = contextOf(command, shell);
    const decision = requireOne(name, options);
    const write = await (decision === undefined
      ? stormAnswer(context, options)
      : decisionAnswer(context, decision, options));
    if (options.file === undefined) write(shell.stdout);
    else await writeReport(resolve(options.file), write);
  });
}

type Write = (screen: Pick<Screen, "write">) => void;

/** The Decision, or undefined for the storm. */
function requireOne(name: string | undefined, options: ReportOptions): string | undefined {
  const { storm = false } = options;
  if ((name === undefined) !== storm)
    throw usageFailure(
      name === undefined
        ? "Cannot write a report about nothing"
        : "Cannot write one report about a Decision and a storm",
      "levee report DECISION, or levee report --storm",
    );
  const given = (["since", "node", "thisNode", "prometheus"] as const).filter((key) => options[key] !== undefined);
  if (!storm && given.length > 0)
    throw usageFailure("Cannot use an option of --storm for a Decision", `levee report ${name ?? ""}`);
  if (options.thisNode === true && (options.node !== undefined || options.prometheus !== undefined))
    throw usageFailure("Cannot ask the cluster with --this-node", "levee report --storm --this-node");
  return name;
}

async function stormAnswer({ shell, settings }: Context, options: ReportOptions): Promise<Write> {
  const spanMs = options.since === undefined ? undefined : parseSpan("--since", options.since);
  const sinceMs = spanMs === undefined ? 0 : shell.clock.wallMs() - spanMs;
  const metricsPort = metricsPortOf(options.metricsPort, metricsPortDefault);
  if (options.prometheus !== undefined) parseProxiedService("--prometheus", options.prometheus);
  const { clock } = shell;
  const report =
    options.thisNode === true
      ? await ownStorm(settings.stateDir, sinceMs)
      : await withCluster(shell, options, (api) => {
          const asking = { api, clock, metricsPort, signal: shell.interrupted, namespace: guardNamespaceOf(options) };
          const { node: nodes = [], prometheus } = options;
          return withProgress(shell, "Asking the nodes", () => stormReport({ ...asking, nodes, prometheus, sinceMs }));
        });
  return (screen) => print(screen, settings.output, { value: report, text: () => stormText(report) });
}

async function decisionAnswer({ shell, settings }: Context, name: string, options: ReportOptions): Promise<Write> {
  const { output } = settings;
  // A program reads the Decision itself instead.
  if (output === "json" || output === "yaml")
    throw usageFailure(
      `Cannot print the report as ${output}: it is Markdown for people`,
      `levee decisions show ${name} -o ${output}`,
    );
  const text = await withCluster(shell, options, async (api) => {
    const source = { api, namespace: guardNamespaceOf(options), signal: shell.interrupted };
    const decision = await readDecision(source, name);
    return postMortemText(decision, await readApprovals(source, decision.metadata.name));
  });
  return (screen) => screen.write(text);
}

async function writeReport(path: string, write: Write): Promise<void> {
  let text = "";
  write({ write: (part) => void (text += part) });
  try {
    await writeFileAtomically(path, text, { mode: 0o644, sync: true });
  } catch (cause) {
    throw new CommandFailure(
      "report-unwritten",
      `Cannot write the report to ${path}: ${errnoOf(cause) ?? String(cause)}`,
      {
        remedy: "--file in a folder that exists and that you may write to",
        cause,
      },
    );
  }
}
