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
import { postMortemText } from "../decisions/report/post-mortem-text.ts";
import type { Shell } from "../shell.ts";

interface ReportOptions extends ClusterCommandOptions {
  readonly file?: string;
}

export function addReport(program: Command, shell: Shell): void {
  const command = addClusterOptions(
    program
      .command("report")
      .description("Write the post-mortem of a Decision as Markdown")
      .argument("<decision>", "name of the Decision")
      .option("--file <path>", "write to this file instead of printing"),
  ).addHelpText(
    "after",
    `\nIt contains only what the Decision and its approvals hold.\n${examples(
      "levee report recover-shop-1",
      "levee report recover-shop-1 --file post-mortem.md",
    )}\n${clusterExitText}`,
  );
  command.action(async (name: string, options: ReportOptions) => {
    requireMarkdown(contextOf(command, shell).settings.output, name);
    const namespace = guardNamespaceOf(options);
    const text = await withCluster(shell, options, async (api) => {
      const source = { api, namespace, signal: shell.interrupted };
      const decision = await readDecision(source, name);
      return postMortemText(decision, await readApprovals(source, decision.metadata.name));
    });
    if (options.file === undefined) shell.stdout.write(text);
    else await writeReport(resolve(options.file), text);
  });
}

/** A program reads the Decision itself instead. */
function requireMarkdown(output: string, name: string): void {
  if (output !== "json" && output !== "yaml") return;
  throw usageFailure(
    `Cannot print the report as ${output}: it is Markdown for people`,
    `levee decisions show ${name} -o ${output}`,
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
