import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import type { LeaksAnswer } from "../../wire/node-view.ts";
import { readLeaks, readQuarantineFolder } from "../node-source.ts";
import { oneLine } from "../plain-text.ts";
import { print } from "../print.ts";
import { ageText } from "../span.ts";
import { renderTable } from "../table.ts";
import type { World } from "../world.ts";

export function addLeaks(program: Command, world: World): void {
  const command = program
    .command("leaks")
    .description("Show what could not be undone yet, and records of the journal that were put aside")
    .addHelpText(
      "after",
      [
        "\nThe resident hand retries every leak; an entry goes away when its undo has succeeded.",
        examples("levee leaks", "levee leaks -o wide", "levee leaks -o json | jq '.leaks | length'"),
      ].join("\n"),
    );
  command.action(async () => {
    const context = contextOf(command, world);
    const read = await readLeaks(context);
    const view = {
      nowMs: world.clock.wallMs(),
      quarantineFolder: read.answer.quarantined.length === 0 ? "" : await readQuarantineFolder(context, read.source),
    };
    print(world.stdout, context.settings.output, {
      value: { source: read.source, ...read.answer, quarantineFolder: view.quarantineFolder },
      text: () => leaksText(read.answer, { ...view, isWide: false }),
      wide: () => leaksText(read.answer, { ...view, isWide: true }),
    });
  });
}

interface View {
  readonly nowMs: number;
  readonly quarantineFolder: string;
  readonly isWide: boolean;
}

export function leaksText(answer: LeaksAnswer, view: View): string {
  const { nowMs, isWide } = view;
  if (answer.leaks.length === 0 && answer.quarantined.length === 0) return "No leaks, no damaged records\n";
  const parts = [
    answer.leaks.length === 0 ? "No leaks\n" : leakTable(answer, nowMs, isWide),
    answer.quarantined.length === 0
      ? ""
      : `\nDamaged records, put aside in ${oneLine(view.quarantineFolder)}:\n${quarantineTable(answer, nowMs)}`,
  ];
  return parts.join("");
}

function leakTable(answer: LeaksAnswer, nowMs: number, isWide: boolean): string {
  const rows = answer.leaks.map((leak) => [
    leak.pod === "" ? "" : `${leak.namespace}/${leak.pod}`,
    leak.network,
    leak.ifname,
    leak.reason,
    String(leak.attempts),
    ageText(nowMs - leak.sinceWallMs),
    ...(isWide ? [leak.id, leak.containerId] : []),
  ]);
  return renderTable(
    ["POD", "NETWORK", "INTERFACE", "REASON", "ATTEMPTS", "AGE", ...(isWide ? ["ID", "CONTAINER"] : [])],
    rows,
  );
}

function quarantineTable(answer: LeaksAnswer, nowMs: number): string {
  return renderTable(
    ["FILE", "REASON", "AGE"],
    answer.quarantined.map((record) => [
      // Read from disk, a record that nobody has put aside yet has no time.
      record.file,
      record.reason,
      record.sinceWallMs === 0 ? "" : ageText(nowMs - record.sinceWallMs),
    ]),
  );
}
