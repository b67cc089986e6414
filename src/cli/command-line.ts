import type { Command } from "commander";
import type { Context } from "./context.ts";
import type { OutputFormat } from "./terminal/print.ts";
import { readSettings, type GivenOptions } from "./settings.ts";
import type { World } from "./world.ts";

/** Adds one command to the program; the command's own file says what it does. */
export type AddCommand = (program: Command, world: World) => void;

/** Where things are for this command: its options and the global ones, over the environment and the defaults. */
export function contextOf(command: Command, world: World, formats?: readonly OutputFormat[]): Context {
  return { world, settings: readSettings(command.optsWithGlobals<GivenOptions>(), world, formats) };
}

/** The examples that close every help text. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}
