import type { Command, Option } from "commander";

/** The command line before the word to complete. */
export interface PartialLine {
  readonly command: Command;
  /** Words that are neither commands nor options. */
  readonly operands: readonly string[];
  /** The option whose value is being typed. */
  readonly awaits: Option | undefined;
  /** Values of the options so far, by attribute name. */
  readonly given: Readonly<Record<string, string>>;
}

/** Parses the words as the program would, without running anything. */
export function readPartialLine(program: Command, words: readonly string[]): PartialLine {
  let command = program;
  let awaits: Option | undefined;
  const operands: string[] = [];
  const given: Record<string, string> = {};
  for (const word of words) {
    if (awaits !== undefined) {
      given[awaits.attributeName()] = word;
      awaits = undefined;
    } else if (word.startsWith("-")) {
      awaits = valueOption(command, word, given);
    } else {
      const next = operands.length === 0 ? subcommand(command, word) : undefined;
      if (next === undefined) operands.push(word);
      else command = next;
    }
  }
  return { command, operands, awaits, given };
}

/** The options that are valid here: the command's own, then those of its parents. */
export function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...ancestorsOf(command).flatMap(({ options }) => options)];
}

export function subcommandNames(command: Command): readonly string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((one) => one.name());
}

/** The option, if its value is the next word. For `--option=value` it stores the value and returns undefined. */
function valueOption(command: Command, word: string, given: Record<string, string>): Option | undefined {
  const [name = "", ...value] = word.split("=");
  const option = optionsOf(command).find(({ long, short }) => long === name || short === name);
  if (option === undefined || (!option.required && !option.optional)) return undefined;
  if (value.length === 0) return option;
  given[option.attributeName()] = value.join("=");
  return undefined;
}

function subcommand(command: Command, word: string): Command | undefined {
  return command.commands.find((one) => one.name() === word || one.aliases().includes(word));
}

function ancestorsOf(command: Command): readonly Command[] {
  return command.parent === null ? [] : [command.parent, ...ancestorsOf(command.parent)];
}
