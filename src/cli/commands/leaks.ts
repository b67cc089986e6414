import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { LeaksAnswer, LeakView } from "../../wire/node-view.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { forgetLeak, retryLeaks } from "../node/leak-orders.ts";
import { readLeaks, readQuarantineFolder, type Sourced } from "../node/node-source.ts";
import { oneLine } from "../../base/plain-text.ts";
import { print } from "../terminal/print.ts";
import { ageText } from "../terminal/span.ts";
import { renderTable } from "../terminal/table.ts";
import type { Shell } from "../shell.ts";

interface LeaksOptions {
  readonly retry?: true;
  readonly forget?: string;
  readonly yes?: true;
}

export function addLeaks(program: Command, shell: Shell): void {
  const command = program
    .command("leaks")
    .description("Show what could not be undone yet, and damaged records of the journal")
    .option("--retry", "retry every undo now, and show what is left")
    .option("--forget <id>", "remove one entry from the list without undoing it; needs --yes")
    .option("--yes", "with --forget: confirm it")
    .addHelpText(
      "after",
      [
        "\nThe resident hand retries every leak with growing pauses. An entry goes away once its undo succeeds.",
        examples(
          "levee leaks",
          "levee leaks -o wide",
          "levee leaks --retry",
          "levee leaks --forget 0123456789abcdef --yes",
          "levee leaks -o json | jq '.leaks | length'",
        ),
      ].join("\n"),
    );
  command.action(async (options: LeaksOptions) => {
    const context = contextOf(command, shell);
    if (options.yes === true && options.forget === undefined)
      throw usageFailure("Cannot use --yes without --forget", "levee leaks --forget ID --yes");
    if (options.forget !== undefined) {
      await forget(context, options);
      return;
    }
    const read: Sourced<LeaksAnswer> =
      options.retry === true ? { source: "daemon", answer: await retryLeaks(context) } : await readLeaks(context);
    const view = {
      nowMs: shell.clock.wallMs(),
      quarantineFolder: read.answer.quarantined.length === 0 ? "" : await readQuarantineFolder(context, read.source),
    };
    print(shell.stdout, context.settings.output, {
      value: { source: read.source, ...read.answer, quarantineFolder: view.quarantineFolder },
      text: () => leaksText(read.answer, { ...view, isWide: false }),
      wide: () => leaksText(read.answer, { ...view, isWide: true }),
    });
  });
}

async function forget(context: Context, { forget: id = "", yes, retry }: LeaksOptions): Promise<void> {
  if (retry === true)
    throw usageFailure("Cannot use --retry together with --forget", "levee leaks --retry, or levee leaks --forget ID");
  const leak = await forgetLeak(context, id, yes === true);
  print(context.shell.stdout, context.settings.output, {
    value: { forgotten: leak },
    text: () => `${leak.id} is forgotten\n`,
  });
}

interface View {
  readonly nowMs: number;
  readonly quarantineFolder: string;
  readonly isWide: boolean;
}

function leaksText(answer: LeaksAnswer, view: View): string {
  const { nowMs, isWide } = view;
  if (answer.leaks.length === 0 && answer.quarantined.length === 0) return "No leaks, no damaged records\n";
  const parts = [
    answer.leaks.length === 0 ? "No leaks\n" : leakTable(answer, nowMs, isWide),
    answer.quarantined.length === 0
      ? ""
      : `\nDamaged records, moved to ${oneLine(view.quarantineFolder)}:\n${quarantineTable(answer, nowMs)}`,
  ];
  return parts.join("");
}

function leakTable(answer: LeaksAnswer, nowMs: number, isWide: boolean): string {
  const rows = answer.leaks.map((leak) => [
    leak.pod === "" ? "" : `${leak.namespace}/${leak.pod}`,
    leak.network,
    leak.ifname,
    withoutPlace(leak),
    String(leak.attempts),
    ageText(nowMs - leak.sinceWallMs),
    ...(isWide ? [leak.id, leak.containerId] : []),
  ]);
  return renderTable(
    ["POD", "NETWORK", "INTERFACE", "REASON", "ATTEMPTS", "AGE", ...(isWide ? ["ID", "CONTAINER"] : [])],
    rows,
  );
}

/** A plugin's error begins with the network and interface, which already have their columns. */
function withoutPlace({ reason, network, ifname }: LeakView): string {
  const place = `${network} (${ifname}): `;
  return reason.startsWith(place) ? reason.slice(place.length) : reason;
}

function quarantineTable(answer: LeaksAnswer, nowMs: number): string {
  return renderTable(
    ["FILE", "REASON", "AGE"],
    answer.quarantined.map((record) => [
      // A damaged record read from disk has no time until the daemon moves it to quarantine.
      record.file,
      record.reason,
      record.sinceWallMs === 0 ? "" : ageText(nowMs - record.sinceWallMs),
    ]),
  );
}
