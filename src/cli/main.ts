import { CommanderError, type Command } from "commander";
import { misspeltVerb } from "./command-line.ts";
import { exitCode, failureText, toFailure, usageFailure, type CommandFailure } from "./failure.ts";
import { buildProgram } from "./program.ts";
import type { Shell } from "./shell.ts";

/** Runs one command line and returns its exit status. It writes every error once, to stderr, unless the command has said it. */
export async function runCli(shell: Shell): Promise<number> {
  const program = buildProgram(shell);
  const argv = meantBy(shell.argv, program);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode.ok;
  } catch (error) {
    const failure = error instanceof CommanderError ? commanderFailure(error, argv, program) : toFailure(error);
    if (failure === undefined) return exitCode.ok;
    if (!failure.isTold) shell.stderr.write(failureText(failure));
    return failure.exitCode;
  }
}

const helpWords: ReadonlySet<string> = new Set(["-h", "--help"]);

/** Turns `levee help check node` into `levee check node --help`. Help for an unknown command fails as an unknown command. */
function meantBy(given: readonly string[], program: Command): string[] {
  if (given.length === 0) return ["--help"];
  const argv = given[0] === "help" ? [...given.slice(1), "--help"] : [...given];
  const [first = ""] = argv;
  const isCommand = program.commands.some((command) => [command.name(), ...command.aliases()].includes(first));
  return isCommand || first.startsWith("-") ? argv : argv.filter((word) => !helpWords.has(word));
}

function commanderFailure(
  error: CommanderError,
  argv: readonly string[],
  program: Command,
): CommandFailure | undefined {
  // An option of a misspelt command is unknown to the one above it.
  const misspelt = error.code === "commander.unknownOption" ? misspeltBelow(argv, program) : undefined;
  return misspelt ?? commandLineFailure(error, argv, program);
}

/** Undefined for help and version, which commander also ends with an error. */
function commandLineFailure(
  error: CommanderError,
  argv: readonly string[],
  program: Command,
): CommandFailure | undefined {
  if (error.exitCode === 0) return undefined;
  const [first = ""] = argv;
  // Commander has already printed the help of a command that needs a subcommand.
  if (error.code === "commander.help")
    return usageFailure(`Cannot run levee ${first} without a subcommand`, `levee ${first} --help`);
  const message = error.message.replace(/^error: /u, "").replaceAll("\n", " ");
  // In `levee git-guard foo` the second word is the unknown one.
  const isFirstUnknown = error.code === "commander.unknownCommand" && message.includes(`'${first}'`);
  const isKnown = !isFirstUnknown && /^[a-z]/u.test(first);
  const words = isKnown ? commandWords(argv, program).join(" ") || first : "";
  return usageFailure(
    `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
    `levee ${words === "" ? "" : `${words} `}--help`,
  );
}

function misspeltBelow([word, ...rest]: readonly string[], command: Command): CommandFailure | undefined {
  if (word === undefined || word.startsWith("-")) return undefined;
  const found = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word));
  return found === undefined ? misspeltVerb(command, word) : misspeltBelow(rest, found);
}

/** The words that name the command, `gate except` in `levee gate except a=b --until 1d`. */
function commandWords([word, ...rest]: readonly string[], command: Command): readonly string[] {
  const found = command.commands.find((one) => word !== undefined && [one.name(), ...one.aliases()].includes(word));
  return found === undefined ? [] : [found.name(), ...commandWords(rest, found)];
}
