import type { Command } from "commander";
import type { Context } from "./context.ts";
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
