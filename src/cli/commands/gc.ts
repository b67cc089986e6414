import type { Command } from "commander";
import type { GcAnswer, GcFinding } from "../../wire/node-view.ts";
import { contextOf, examples } from "../command-line.ts";
import { CommandFailure, usageFailure } from "../failure.ts";
import { runGcRound } from "../node/gc-round.ts";
import { oneLine } from "../../base/plain-text.ts";
import { print } from "../terminal/print.ts";
import { renderTable } from "../terminal/table.ts";
import type { Shell } from "../shell.ts";

interface GcOptions {
  readonly dryRun?: true;
  readonly fix?: true;
}

export function addGc(program: Command, shell: Shell): void {
  const command = program
    .command("gc")
    .description("Show what is left over on this node and why, and remove it with --fix")
    .option("--dry-run", "only look (this is the default)")
    .option("--fix", "detach dead containers, and release host-local addresses that have no sandbox")
    .addHelpText(
      "after",
      [
        "\nA container is dead if its network namespace is gone at two looks, while the hand still sees living ones.",
        "Everything else is only reported, even with --fix. The daemon detaches dead containers by itself, and frees",
        "addresses whose file is empty since before the last boot; only --fix releases others.",
        "Exit status 1: the look failed, or a removal failed; a finding that is only reported does not count.",
        examples("levee gc", "levee gc --fix", "levee gc -o json | jq '.findings[] | select(.what == \"pod\")'"),
      ].join("\n"),
    );
  command.action(async (options: GcOptions) => {
    const context = contextOf(command, shell);
    if (options.dryRun === true && options.fix === true)
      throw usageFailure("Cannot use --dry-run together with --fix", "levee gc --dry-run, or levee gc --fix");
    const answer = await runGcRound(context, options.fix === true ? "fix" : "look");
    print(shell.stdout, context.settings.output, {
      value: answer,
      text: () => gcText(answer, false),
      wide: () => gcText(answer, true),
    });
    for (const note of answer.notes) shell.stderr.write(`Note: ${oneLine(note)}\n`);
    if (options.fix === true) noteLeft(shell, answer.findings);
    refuseFailed(answer.findings.filter(({ action }) => action === "failed"));
  });
}

/** A person who asked for a fix must not mistake a report for one. */
function noteLeft(shell: Shell, findings: readonly GcFinding[]): void {
  const left = findings.filter(({ action }) => action === "report").length;
  if (left === 0) return;
  const are = left === 1 ? "finding is" : "findings are";
  shell.stderr.write(
    `Note: ${left} ${are} left alone, because something may still need it; the column WHY has the reason\n`,
  );
}

function refuseFailed(failed: readonly GcFinding[]): void {
  if (failed.length === 0) return;
  throw new CommandFailure(
    "delegate-failed",
    `${failed.length} of the findings could not be removed; the column ACTION says why`,
    { remedy: "levee leaks shows what the daemon retries" },
  );
}

function gcText({ findings }: Pick<GcAnswer, "findings">, isWide: boolean): string {
  if (findings.length === 0) return "Nothing is left over\n";
  const heading = ["WHAT", "POD", "NETWORK", "WHY", "ACTION", ...(isWide ? ["INTERFACE", "CONTAINER"] : [])];
  const rows = findings.map((finding) => [
    finding.what,
    podOf(finding),
    finding.address === "" ? finding.network : `${finding.network} ${finding.address}`,
    finding.why,
    actionText(finding),
    ...(isWide ? [finding.ifname, finding.containerId] : []),
  ]);
  return renderTable(heading, rows);
}

function podOf({ namespace, pod, containerId }: GcFinding): string {
  return pod === "" ? `container ${containerId.slice(0, 13)}` : `${namespace}/${pod}`;
}

const actionTexts: Readonly<Record<GcFinding["action"], string>> = {
  detach: "would detach",
  release: "would release",
  wait: "waits for another look",
  hold: "waits: enough was detached in this minute",
  report: "reported only",
  detached: "detached",
  released: "released",
  failed: "failed",
};

/** A newer daemon may send an action that is not in the table. */
function actionText({ action, detail }: GcFinding): string {
  const text: string = actionTexts[action] ?? action;
  return detail === "" ? text : `${text}: ${detail}`;
}
