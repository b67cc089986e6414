import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { lastChars } from "../../base/short-text.ts";

/** One run of git. `env` is its whole environment: nothing is inherited. */
export interface GitRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  readonly timeoutMs: number;
  /** Git is killed when it writes more. */
  readonly stdoutBytesMax?: number;
  readonly signal?: AbortSignal;
  /** Called regularly during the run; a returned text ends the run. */
  readonly watch?: () => string | undefined;
}

export interface GitEnd {
  /** Undefined when git was killed or not started. */
  readonly exitCode: number | undefined;
  readonly stdout: Buffer;
  /** The end of its error output. */
  readonly stderr: string;
  /** The name of the errno when git could not be started. */
  readonly startError?: string;
  /** Why git was killed. */
  readonly stopped?: string;
}

/** Enough for refs and lists of files. */
const stdoutBytesMax = 4_194_304;
const stderrCharsMax = 4_096;
/** A grandchild may keep the pipes open; its later output does not matter. */
const drainMs = 500;
/** The interval of `watch`. */
const watchMs = 250;

/**
 * Runs git in its own process group. A time limit, too much output, the watch or an abort kills the whole group, so git's
 * children, such as the ones that talk to the server, do not outlive it.
 */
export function runGit(clock: Clock, run: GitRun): Promise<GitEnd> {
  if (run.signal?.aborted === true)
    return Promise.resolve({ exitCode: undefined, stdout: Buffer.alloc(0), stderr: "", stopped: "interrupted" });
  try {
    const child = spawn(run.program, [...run.args], {
      env: { ...run.env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
      cwd: "/",
    });
    return watched(clock, run, child);
  } catch (thrown) {
    // Some failures arrive as an event, others are thrown, such as a file that is not a program.
    return Promise.resolve(notStarted(thrown));
  }
}

function watched(clock: Clock, run: GitRun, child: ChildProcessWithoutNullStreams): Promise<GitEnd> {
  return new Promise((resolve) => {
    let stopped: string | undefined;
    const stop = (why: string): void => {
      stopped ??= why;
      killGroup(child);
    };
    const bytesMax = run.stdoutBytesMax ?? stdoutBytesMax;
    const stdout = collect(child, bytesMax, () => stop(`it wrote more than ${bytesMax} bytes`));
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr = lastChars(stderr + chunk.toString("utf8"), stderrCharsMax)));
    const cancels = stoppers(clock, run, stop);
    const settle = (exitCode: number | undefined): void => {
      for (const cancel of cancels) cancel();
      // Git may have ended between two calls of `watch`.
      stopped ??= run.watch?.();
      // Its children may still run, however git ended.
      killGroup(child);
      child.stdout.destroy();
      child.stderr.destroy();
      const ended = { exitCode: stopped === undefined ? exitCode : undefined, stdout: stdout(), stderr };
      resolve(stopped === undefined ? ended : { ...ended, stopped });
    };
    child.once("error", (error) => {
      for (const cancel of cancels) cancel();
      resolve(notStarted(error));
    });
    child.once("close", (code) => settle(code ?? undefined));
    child.once("exit", (code) => cancels.push(clock.after(drainMs, () => settle(code ?? undefined))));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => undefined);
    // If git does not read its input, its exit code counts, not our EPIPE.
    child.stdin.end(run.input ?? "");
  });
}

function stoppers(clock: Clock, run: GitRun, stop: (why: string) => void): (() => void)[] {
  const cancels = [clock.after(run.timeoutMs, () => stop(`it took longer than ${run.timeoutMs / 1000} s`))];
  const onAbort = (): void => stop("interrupted");
  run.signal?.addEventListener("abort", onAbort, { once: true });
  cancels.push(() => run.signal?.removeEventListener("abort", onAbort));
  const { watch } = run;
  if (watch !== undefined)
    cancels.push(
      clock.every(watchMs, () => {
        const why = watch();
        if (why !== undefined) stop(why);
      }),
    );
  return cancels;
}

function collect({ stdout }: ChildProcessWithoutNullStreams, bytesMax: number, onTooMuch: () => void): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) onTooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks);
}

function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}

function notStarted(thrown: unknown): GitEnd {
  const startError = errnoOf(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return { exitCode: undefined, stdout: Buffer.alloc(0), stderr: "", startError };
}
