import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { errnoOf } from "../../base/errors.ts";
import { lastChars } from "../../base/short-text.ts";

/** One run of git. Its environment is the whole of it: nothing of our own is passed on. */
export interface GitRun {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  readonly timeoutMs: number;
  /** One that writes more is killed. */
  readonly stdoutBytesMax?: number;
  readonly signal?: AbortSignal;
  /** Asked now and then while it runs; a text that it answers with ends the run. */
  readonly watch?: () => string | undefined;
}

export interface GitEnd {
  /** Undefined when it did not end by itself. */
  readonly exitCode: number | undefined;
  readonly stdout: Buffer;
  /** The last part of what it wrote there. */
  readonly stderr: string;
  /** Why it could not be started: the errno's name. */
  readonly startError?: string;
  /** Why it was killed. */
  readonly stopped?: string;
}

/** Names of refs and lists of files; more is asked for by name. */
const stdoutBytesMax = 4_194_304;
const stderrCharsMax = 4_096;
/** A grandchild may hold the pipes open; what it writes later is not waited for. */
const drainMs = 500;
/** Between two looks at how much a fetch has written. */
const watchMs = 250;

/**
 * Runs git in a process group of its own. Whatever ends it early (time, too much output, the watch, an abort) kills the
 * whole group: git's own children, such as those that talk to the server, do not live longer than it does.
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
    // Some reasons come as an event, others (a file that is no program) are thrown.
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
      // It may have been faster than the looks.
      stopped ??= run.watch?.();
      // What it started may still be there, whichever way it ended itself.
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
    // One that does not read its input is judged by how it ends, not by our EPIPE.
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
    // Nobody is left in it.
  }
}

function notStarted(thrown: unknown): GitEnd {
  const startError = errnoOf(thrown) ?? (thrown instanceof Error ? thrown.message : String(thrown));
  return { exitCode: undefined, stdout: Buffer.alloc(0), stderr: "", startError };
}
