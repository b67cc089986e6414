import { CommanderError } from "commander";
import { exitCode, failureText, toFailure, usageFailure } from "./failure.ts";
import { buildProgram } from "./program.ts";
import type { World } from "./world.ts";

/** Runs one command line and returns its exit status. Writes every error, once, to stderr. */
export async function runCli(world: World): Promise<number> {
  const argv = world.argv.length === 0 ? ["--help"] : [...world.argv];
  try {
    await buildProgram(world).parseAsync(argv, { from: "user" });
    return exitCode.ok;
  } catch (error) {
    const failure = error instanceof CommanderError ? commandLineFailure(error, argv) : toFailure(error);
    if (failure === undefined) return exitCode.ok;
    world.stderr.write(failureText(failure));
    return failure.exitCode;
  }
}

/** Undefined when help or the version was asked for: commander ends those the same way as errors. */
function commandLineFailure(
  error: CommanderError,
  argv: readonly string[],
): ReturnType<typeof usageFailure> | undefined {
  if (error.exitCode === 0) return undefined;
  const message = error.message.replace(/^error: /u, "").replaceAll("\n", " ");
  const [first = ""] = argv;
  const isKnown = error.code !== "commander.unknownCommand" && /^[a-z]/u.test(first);
  return usageFailure(
    `${message.charAt(0).toUpperCase()}${message.slice(1)}`,
    `levee ${isKnown ? `${first} ` : ""}--help`,
  );
}
