import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { askDaemon } from "../context.ts";
import { paintFor } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { runLive } from "../node/top/live.ts";
import { topScreen } from "../node/top/screen.ts";
import type { Shell } from "../shell.ts";

/** A line of a log or a pipe may be as long as it likes. */
const pipeColumns = 1_000;
const pipeRows = 1_000;

export function addTop(program: Command, shell: Shell): void {
  const command = program
    .command("top")
    .description("Watch the node: who runs and waits, slots, hanging and slow plugins, memory, failures")
    .option("--once", "print one screen and end")
    .addHelpText(
      "after",
      [
        "\nRefreshes once a second; q or Ctrl-C leaves. Without a terminal it prints one screen, as with --once.",
        "Classes: critical (system pods), ordinary, penalty (pods that failed again and again), detach.",
        "Slots: how many ADDs run at once, of how many the node bears now, of how many at most, and why not more.",
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
