import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, unlinkSync } from "node:fs";
import type { Clock } from "../../../base/clock.ts";
import { errnoOf } from "../../../base/errors.ts";

/**
 * A program run with files for stdin and stdout. A storm starts thousands: without pipes there is nothing to poll,
 * nothing to drain, and no descriptor is kept here while the program waits.
 */
interface CheapRun {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdinPath: string;
  /** Made for this run and removed after it; on a memory file system if possible. */
  readonly stdoutPath: string;
  readonly timeoutMs: number;
  /** Where its number is kept while it runs. */
  readonly running: Set<number>;
}

export interface CheapEnd {
  readonly exitCode: number | undefined;
  /** The signal that ended it, "timeout" when that was ours, or why it could not be started. */
  readonly reason: string;
  readonly stdout: string;
}

export function runCheaply(clock: Clock, run: CheapRun): Promise<CheapEnd> {
  return new Promise((resolve) => {
    const files: number[] = [];
    const settle = (exitCode: number | undefined, reason: string): void =>
      resolve({ exitCode, reason, stdout: takeFile(run.stdoutPath) });
    try {
      files.push(openSync(run.stdinPath, "r"));
      files.push(openSync(run.stdoutPath, "w", 0o600));
      start(clock, run, { files, settle });
    } catch (error) {
      settle(undefined, errnoOf(error) ?? String(error)); // Some reasons come as an event, others are thrown.
    } finally {
      for (const file of files) closeSync(file);
    }
  });
}

interface Start {
  /** For stdin and stdout. */
  readonly files: readonly number[];
  readonly settle: (exitCode: number | undefined, reason: string) => void;
}

function start(clock: Clock, run: CheapRun, { files, settle }: Start): void {
  // A session of its own: Ctrl-C of our terminal is not for it.
  const child = spawn(run.program, [], { env: { ...run.env }, stdio: [...files, "ignore"], detached: true });
  const { pid } = child;
  if (pid !== undefined) run.running.add(pid);
  let isLate = false;
  // As containerd does it when the time of the call is over.
  const cancel = clock.after(run.timeoutMs, () => {
    isLate = true;
    child.kill("SIGKILL");
  });
  const ended = (exitCode: number | undefined, reason: string): void => {
    cancel();
    if (pid !== undefined) run.running.delete(pid);
    settle(exitCode, isLate ? "timeout" : reason);
  };
  child.once("error", (error) => ended(undefined, errnoOf(error) ?? error.message));
  child.once("exit", (code, signal) => ended(code ?? undefined, signal ?? ""));
}

/** Empty when it could not even be made. */
function takeFile(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    unlinkSync(path);
    return text;
  } catch {
    return "";
  }
}
