import { spawnSync } from "node:child_process";

/** Runs a program to its end and returns its output; the error of a failure has its stderr. */
export function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 64 << 20 });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} failed with ${status ?? error?.message ?? "a signal"}: ${stderr}`);
  return stdout;
}
