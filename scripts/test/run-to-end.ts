import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";

export interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Resolves to the exit code; null for a program that was killed. */
export async function runLoudly(command: readonly string[], surroundings: Surroundings): Promise<number | null> {
  return runToEnd(command, surroundings, "inherit");
}

/** The same. Its output goes to the file and is shown at the end, so that programs beside each other do not mix theirs. */
export async function runQuietly(
  command: readonly string[],
  surroundings: Surroundings,
  shown: { readonly file: string; readonly heading?: string },
): Promise<number | null> {
  const descriptor = openSync(shown.file, "w");
  const status = await runToEnd(command, surroundings, descriptor);
  closeSync(descriptor);
  process.stdout.write(shown.heading ?? "");
  process.stdout.write(readFileSync(shown.file));
  return status;
}

async function runToEnd(
  [program = "", ...args]: readonly string[],
  surroundings: Surroundings,
  output: number | "inherit",
): Promise<number | null> {
  const child = spawn(program, args, { ...surroundings, stdio: ["ignore", output, output] });
  const [status] = (await once(child, "exit")) as [number | null]; // As the documentation of "exit" has it.
  return status;
}
