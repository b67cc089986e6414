import { askSocket } from "./node/ask.ts";
import type { Question } from "../wire/node-view.ts";
import { runProgram, type ProgramEnd } from "./run-program.ts";
import { socketPath, type Settings } from "./settings.ts";
import { childEnv, type Shell } from "./shell.ts";

/** What every command gets: the process around it, and the settings. */
export interface Context {
  readonly shell: Shell;
  readonly settings: Settings;
}

/** `ip` and `ping` answer at once, or they hang. */
const toolTimeoutMs = 15_000;

export function askDaemon<Q extends Question>(context: Context, question: Q): ReturnType<typeof askSocket<Q>> {
  const { clock, interrupted } = context.shell;
  return askSocket(question, { socket: socketPath(context.settings), clock, signal: interrupted });
}

/** Runs a small tool to its end. Ctrl-C does not stop it, because we must know what it made or removed. */
export function runTool(
  shell: Pick<Shell, "clock" | "env">,
  file: string,
  args: readonly string[],
): Promise<ProgramEnd> {
  return runProgram(shell.clock, { file, args, env: childEnv(shell), timeoutMs: toolTimeoutMs, isApart: true });
}
