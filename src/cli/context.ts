import { ask as askDaemon } from "./node/ask.ts";
import type { Question } from "../wire/node-view.ts";
import { runProgram, type ProgramEnd } from "./run-program.ts";
import { socketPath, type Settings } from "./settings.ts";
import { childEnv, type World } from "./world.ts";

/** What every command is given: the process around it and where things are. */
export interface Context {
  readonly world: World;
  readonly settings: Settings;
}

/** `ip` and `ping` answer at once or are stuck. */
const toolTimeoutMs = 15_000;

export function ask<Q extends Question>(context: Context, question: Q): ReturnType<typeof askDaemon<Q>> {
  const { clock, interrupted } = context.world;
  return askDaemon(question, { socket: socketPath(context.settings), clock, signal: interrupted });
}

/** Runs a small tool to its end. Not stopped by Ctrl-C: what it makes or removes must be known. */
export function runTool(
  world: Pick<World, "clock" | "env">,
  file: string,
  args: readonly string[],
): Promise<ProgramEnd> {
  return runProgram(world.clock, { file, args, env: childEnv(world), timeoutMs: toolTimeoutMs, isApart: true });
}
