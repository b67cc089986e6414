import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, unlinkSync } from "node:fs";
import type { Clock } from "../../../base/clock.ts";
import { errnoOf } from "../../../base/errors.ts";

/**
 * A program run with files for stdin and stdout. A storm starts thousands of programs: files need no polling, no draining,
 * and no open descriptor while the program waits.
 */
interface CheapRun {
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdinPath: string;
  /** Made for this run and removed after it; best on a memory file system. */
  readonly stdoutPath: string;
  readonly timeoutMs: number;
  /** Holds its process ID while it runs. */
  readonly running: Set<number>;
}

export interface CheapEnd {
  readonly exitCode: number | undefined;
  /** The signal that ended it, "timeout" if we killed it, or why it could not start. */
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
      settle(undefined, errnoOf(error) ?? String(error)); // Some failures arrive as an event, others are thrown.
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
  // In its own session the terminal's Ctrl-C does not reach it.
  const child = spawn(run.program, [], { env: { ...run.env }, stdio: [...files, "ignore"], detached: true });
  const { pid } = child;
  if (pid !== undefined) run.running.add(pid);
  let isLate = false;
  // containerd also kills a call that takes too long.
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

/** Empty if the file could not be made. */
function takeFile(path: string): string {
  try {
    const text = readFileSync(path, "utf8");
    unlinkSync(path);
    return text;
  } catch {
    return "";
  }
}
