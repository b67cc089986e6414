import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { askDaemon } from "../context.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { runLive } from "../node/top/live.ts";
import { topScreen } from "../node/top/screen.ts";
import type { Shell } from "../shell.ts";

/** Lines in a log or a pipe are not cut. */
const pipeColumns = 1_000;
const pipeRows = 1_000;

export function addTop(program: Command, shell: Shell): void {
  const command = program
    .command("top")
    .description("Watch the node: running and waiting pods, slots, hanging and slow plugins, memory, failures")
    .option("--once", "print one screen and exit")
    .addHelpText(
      "after",
      [
        "\nThe screen refreshes once a second; q or Ctrl-C ends it. Without a terminal it prints one screen, as with --once.",
        "Classes: critical (system pods and criticalPods), ordinary, penalty (pods that failed repeatedly), detach.",
        "Slots: ADDs that run now, the current limit, the ceiling, and the reason for the limit.",
        examples("levee top", "levee top --once", "levee top -o json | jq .slots"),
      ].join("\n"),
    );
  command.action(async (options: { readonly once?: true }) => {
    const context = contextOf(command, shell);
    const answer = await askDaemon(context, { ask: "top" });
    const { terminal } = shell;
    const { output } = context.settings;
    const isForPeople = output === "table" || output === "wide";
    if (terminal !== undefined && isForPeople && options.once !== true) {
      await runLive(context, terminal, answer);
      return;
    }
    const size = terminal === undefined ? { columns: pipeColumns } : terminal.size();
    const paint = paintFor(shell.stdout, shell.env);
    const lines = topScreen({ answer, before: undefined, columns: size.columns, rows: pipeRows, paint, trouble: "" });
    print(shell.stdout, output, { value: answer, text: () => `${lines.join("\n")}\n` });
  });
}
