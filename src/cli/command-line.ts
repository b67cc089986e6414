import type { Command } from "commander";
import { nearestKey } from "../lint/nearest-key.ts";
import type { Context } from "./context.ts";
import { usageFailure, type CommandFailure } from "./failure.ts";
import type { OutputFormat } from "./terminal/print.ts";
import { readSettings, type GivenOptions } from "./settings.ts";
import type { Shell } from "./shell.ts";

/** The context of one command. Options win over environment variables, and those over defaults. */
export function contextOf(command: Command, shell: Shell, formats?: readonly OutputFormat[]): Context {
  return { shell, settings: readSettings(command.optsWithGlobals<GivenOptions>(), shell, formats) };
}

/** The examples at the end of a help text. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

/** Refuses a word that is nearly the name of a command below, as commander does. Undefined for any other word. */
export function misspeltVerb(command: Command, word: string): CommandFailure | undefined {
  const near = nearestKey(
    word,
    command.commands.map((one) => one.name()),
  );
  if (near === undefined) return undefined;
  return usageFailure(`Unknown command '${word}' (Did you mean ${near}?)`, `${wholeName(command)} --help`);
}

/** "levee sim" */
function wholeName(command: Command): string {
  return command.parent === null ? command.name() : `${wholeName(command.parent)} ${command.name()}`;
}
