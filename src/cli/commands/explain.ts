import type { Command } from "commander";
import { contextOf, examples } from "../command-line.ts";
import { usageFailure } from "../failure.ts";
import { paintFor, type Paint } from "../terminal/paint.ts";
import { print } from "../terminal/print.ts";
import { renderTable } from "../terminal/table.ts";
import type { Topic } from "../explain/topics.ts";
import type { Shell } from "../shell.ts";

export function addExplain(program: Command, shell: Shell): void {
  const command = program
    .command("explain")
    .description("Explain a check, a finding, an error, an alert, a step or a phase, and what to do about it")
    .argument(
      "[code]",
      "such as LVE0301, LVN0301, network-unknown, MultusOOMLoop or Paused; without it, list all names",
    )
    .addHelpText(
      "after",
      `${examples("levee explain LVE0301", "levee explain MultusOOMLoop", "levee explain Paused")}\nExit status: 0 explained, 2 unknown name.`,
    );
  command.action(async (code: string | undefined) => {
    const { settings } = contextOf(command, shell);
    // Loaded late, because only this command needs the pages.
    const { allTopics } = await import("../explain/topics.ts");
    const { findTopic, nearestNames } = await import("../explain/find-topic.ts");
    const topics = allTopics();
    if (code === undefined) {
      print(shell.stdout, settings.output, {
        value: topics.map(({ name, kind, title }) => ({ name, kind, title })),
        text: () =>
          renderTable(
            ["NAME", "WHAT"],
            topics.map(({ name, title }) => [name, title]),
          ),
      });
      return;
    }
    const topic = findTopic(topics, code);
    if (topic === undefined) throw unknownTopic(code, nearestNames(topics, code));
    print(shell.stdout, settings.output, {
      value: topic,
      text: () => topicText(topic, paintFor(shell.stdout, shell.env)),
    });
  });
}

function unknownTopic(code: string, near: readonly string[]): Error {
  const remedy = near.length === 0 ? "levee explain, which lists all names" : `levee explain ${near.join(", ")}`;
  return usageFailure(
    `Cannot explain ${JSON.stringify(code)}: there is no check, finding, error, alert, step, phase or reason of the reboot gate of that name`,
    remedy,
  );
}

/** Markdown of our own pages for a terminal: bold headings, and links without their address. */
function topicText({ name, title, text }: Topic, paint: Paint): string {
  const lines = text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/gu, "$1")
    .split("\n")
    .map((line) => line.replace(/^#+ (.*)$/u, (_, heading: string) => paint("bold", heading)));
  return `${paint("bold", name)} (${title})\n\n${lines.join("\n").trim()}\n`;
}
