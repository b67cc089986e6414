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
    .description("Show what is left over on this node and why, and with --fix have it removed")
    .option("--dry-run", "only look and tell (this is the default)")
    .option("--fix", "detach what is dead, and release addresses of host-local that have no sandbox")
    .addHelpText(
      "after",
      [
        "\nDead is only whose network namespace is gone, at two looks some time apart, while the hand sees others that live.",
        "Everything else is reported and left alone, whatever is asked. The daemon detaches what is dead by itself;",
        "addresses are released only by --fix, by host-local itself.",
        "Exit status 1: nothing could be looked at, or removing something was tried and failed; what is only reported does not count.",
        examples("levee gc", "levee gc --fix", "levee gc -o json | jq '.findings[] | select(.what == \"pod\")'"),
      ].join("\n"),
    );
  command.action(async (options: GcOptions) => {
    const context = contextOf(command, shell);
    if (options.dryRun === true && options.fix === true)
      throw usageFailure("Cannot both look only and fix", "levee gc --dry-run, or levee gc --fix");
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

/** Somebody who asked for a fix must not take a report for one. */
function noteLeft(shell: Shell, findings: readonly GcFinding[]): void {
  const left = findings.filter(({ action }) => action === "report").length;
  if (left === 0) return;
  const are = left === 1 ? "finding is" : "findings are";
  shell.stderr.write(
    `Note: ${left} ${are} left alone, as it is not certain that nobody needs it; the column WHY says what it would take\n`,
  );
}

function refuseFailed(failed: readonly GcFinding[]): void {
  if (failed.length === 0) return;
  throw new CommandFailure(
    "delegate-failed",
    `${failed.length} of the findings could not be dealt with; the column ACTION says why`,
    { remedy: "levee leaks shows what is tried again" },
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

/** A newer daemon may know more actions. */
function actionText({ action, detail }: GcFinding): string {
  const text: string = actionTexts[action] ?? action;
  return detail === "" ? text : `${text}: ${detail}`;
}
