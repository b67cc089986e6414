import { resolve } from "node:path";
import type { Command } from "commander";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import {
  addClusterOptions,
  clusterExitText,
  guardNamespaceOf,
  type ClusterCommandOptions,
} from "../cluster/cluster-options.ts";
import { withCluster } from "../cluster/with-cluster.ts";
import { contextOf, examples } from "../command-line.ts";
import { errnoOf } from "../../base/errors.ts";
import { readApprovals, readDecision } from "../decisions/decision-source.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { longestQueue, stormPodsMin, stormTale } from "../decisions/report/storm-tale.ts";
import { stormText } from "../decisions/report/storm-text.ts";
import { eachRecorderEntry } from "../../state/recorder/recorder-read.ts";
import { recorderFolder } from "../../state/recorder/recorder-segments.ts";
import type { RecorderEntry } from "../../state/recorder/recorder-entry.ts";
import { postMortemText } from "../decisions/report/post-mortem-text.ts";
import type { Shell } from "../shell.ts";

interface ReportOptions extends ClusterCommandOptions {
  readonly file?: string;
  readonly storm?: boolean;
  readonly node?: string;
}

export function addReport(program: Command, shell: Shell): void {
  const command = addClusterOptions(
    program
      .command("report")
      .description("Write the post-mortem of a Decision, or of a storm that Levee held, as Markdown")
      .argument("[decision]", "name of the Decision")
      .option("--storm", "the largest storm in the flight recorder of this node, instead of a Decision")
      .option("--node <name>", "with --storm: what the report calls this node", "this node")
      .option("--file <path>", "write to this file instead of printing"),
  ).addHelpText(
    "after",
    `\nIt contains only what the Decision and its approvals hold. With --storm it needs no cluster: it reads the flight recorder\n(STATE-DIR/recorder) of the node it runs on, and writes about the largest storm there.\n${examples(
      "levee report recover-shop-1",
      "levee report --storm --node rke2-agent1",
      "levee report recover-shop-1 --file post-mortem.md",
    )}\n${clusterExitText}`,
  );
  command.action(async (name: string | undefined, options: ReportOptions) => {
    const { settings } = contextOf(command, shell);
    const asked = requireOne(name, options);
    requireMarkdown(settings.output, asked);
    const text =
      asked === undefined
        ? await stormOf(settings.stateDir, options.node ?? "this node")
        : await withCluster(shell, options, async (api) => {
            const source = { api, namespace: guardNamespaceOf(options), signal: shell.interrupted };
            const decision = await readDecision(source, asked);
            return postMortemText(decision, await readApprovals(source, decision.metadata.name));
          });
    if (options.file === undefined) shell.stdout.write(text);
    else await writeReport(resolve(options.file), text);
  });
}

/** The Decision, or undefined for the storm. */
function requireOne(name: string | undefined, { storm = false }: ReportOptions): string | undefined {
  if ((name === undefined) !== storm)
    throw usageFailure(
      name === undefined
        ? "Cannot write a report about nothing"
        : "Cannot write one report about a Decision and a storm",
      "levee report DECISION, or levee report --storm",
    );
  return name;
}

/** The flight recorder holds some megabytes at most. */
async function stormOf(stateDir: string, node: string): Promise<string> {
  const folder = recorderFolder(stateDir);
  const entries: RecorderEntry[] = [];
  await eachRecorderEntry(folder, (entry) => void entries.push(entry));
  const tale = stormTale(entries);
  if (tale !== undefined) return stormText(tale, node);
  const seen =
    entries.length === 0
      ? `there is nothing in ${folder}`
      : `at most ${longestQueue(entries)} pods waited in one go, fewer than ${stormPodsMin}`;
  throw new CommandFailure("no-storm", `Cannot find a storm in the flight recorder: ${seen}`, {
    remedy: "--state-dir of the daemon, on the node where pods waited; levee status shows which",
  });
}

/** A program reads the Decision itself instead. */
function requireMarkdown(output: string, name: string | undefined): void {
  if (output !== "json" && output !== "yaml") return;
  throw usageFailure(
    `Cannot print the report as ${output}: it is Markdown for people`,
    name === undefined ? "levee why POD -o json, for one pod" : `levee decisions show ${name} -o ${output}`,
  );
}

async function writeReport(path: string, text: string): Promise<void> {
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
