import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { errnoOf } from "../base/errors.ts";

/** How a program ended: it succeeded, failed, was stopped or never started. */
export interface ProgramEnd {
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly stdout: string;
  /** Only the last part. */
  readonly stderr: string;
  /** The errno name when it could not be started. */
  readonly startError: string | undefined;
  readonly stopped: "timeout" | "interrupted" | undefined;
}

export interface ProgramRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Runs it in a session of its own, where the terminal's Ctrl-C does not reach it. */
  readonly isApart?: boolean;
}

/** A CNI result is a few KiB; the shim itself refuses more than 512 KiB. */
const stdoutBytesMax = 1_048_576;
const stderrBytesMax = 16_384;
/** Long enough for the shim to undo what it did. After that it is killed. */
const stopGraceMs = 10_000;
/** A grandchild may hold the pipes open; we do not wait for what it writes. */
const drainMs = 1000;

export function runProgram(clock: Clock, run: ProgramRun): Promise<ProgramEnd> {
  try {
    return watch(
      clock,
      run,
      spawn(run.file, [...run.args], {
        env: { ...run.env },
        stdio: ["pipe", "pipe", "pipe"],
        detached: run.isApart ?? false,
      }),
    );
  } catch (error) {
    // Some failures arrive as an event; others, such as a file that is not a program, are thrown.
    return Promise.resolve({ ...nothing, startError: errnoOf(error) ?? String(error) });
  }
}

const nothing: ProgramEnd = {
  exitCode: undefined,
  signal: undefined,
  stdout: "",
  stderr: "",
  startError: undefined,
  stopped: undefined,
};

function watch(clock: Clock, run: ProgramRun, child: ChildProcessWithoutNullStreams): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const stdout = collect(child.stdout, stdoutBytesMax);
    const stderr = collect(child.stderr, stderrBytesMax);
    const stop = stopper(clock, child, run);
    let cancelDrain = (): void => undefined;
    // A promise settles once, so the first of the three events decides.
    const settle = (facts: Partial<ProgramEnd>): void => {
      stop.cancel();
      cancelDrain();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve({ ...nothing, stdout: stdout(), stderr: stderr(), stopped: stop.reason(), ...facts });
    };
    child.once("error", (error) => settle({ startError: errnoOf(error) ?? error.message }));
    child.once("close", (code, signal) => settle(endFacts(code, signal)));
    child.once("exit", (code, signal) => {
      cancelDrain = clock.after(drainMs, () => settle(endFacts(code, signal)));
    });
    // A program may end without reading its input; its exit status decides, not our EPIPE.
    child.stdin.on("error", () => undefined);
    child.stdin.end(run.input ?? "");
  });
}

export function isSuccess(end: ProgramEnd): boolean {
  return end.exitCode === 0 && end.stopped === undefined;
}

function endFacts(code: number | null, signal: string | null): Partial<ProgramEnd> {
  return { exitCode: code ?? undefined, signal: signal ?? undefined };
}

/** Keeps the last `bytesMax` bytes of a stream. */
function collect(stream: NodeJS.ReadableStream, bytesMax: number): () => string {
  let kept: Buffer = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    const joined = Buffer.concat([kept, chunk]);
    kept = joined.length > bytesMax ? joined.subarray(joined.length - bytesMax) : joined;
  });
  stream.on("error", () => undefined);
  return () => kept.toString("utf8");
}

/** Ends the program at its time limit or on Ctrl-C: first SIGTERM, then SIGKILL. */
function stopper(
  clock: Clock,
  child: ChildProcessWithoutNullStreams,
  run: ProgramRun,
): { cancel(): void; reason(): ProgramEnd["stopped"] } {
  let reason: ProgramEnd["stopped"];
  let cancelKill = (): void => undefined;
  const stop = (why: "timeout" | "interrupted"): void => {
    reason ??= why;
    child.kill("SIGTERM");
    cancelKill = clock.after(stopGraceMs, () => child.kill("SIGKILL"));
  };
  const cancelTimeout = clock.after(run.timeoutMs, () => stop("timeout"));
  const onAbort = (): void => stop("interrupted");
  if (run.signal?.aborted === true) onAbort();
  run.signal?.addEventListener("abort", onAbort, { once: true });
  return {
    reason: () => reason,
    cancel() {
      cancelTimeout();
      cancelKill();
      run.signal?.removeEventListener("abort", onAbort);
    },
  };
}
