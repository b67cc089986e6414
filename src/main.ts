import { systemClock } from "./base/clock.ts";
import type { Terminal } from "./cli/shell.ts";
import { completedDaemonEnv } from "./config/daemon-env.ts";

/** The entry of `levee`. It loads either the daemon or the commands, so neither carries the other's libraries. */
const argv = process.argv.slice(2);
process.exit(isDaemon(argv) ? await daemon() : await commands());

/** The command line prints the daemon's help, as it does for every other command. */
function isDaemon([first, ...rest]: readonly string[]): boolean {
  return first === "daemon" && !rest.includes("--help") && !rest.includes("-h");
}

async function daemon(): Promise<number> {
  const startAgainProblem = startAgainWithDaemonEnv();
  const { runDaemon } = await import("./daemon/main.ts");
  return runDaemon(argv.slice(1), process.env, startAgainProblem);
}

/**
 * Replaces this process by one with the daemon's engine settings; systemd and kubelet see the same PID. Returns when
 * nothing is missing, or with the reason when the kernel refuses: a daemon that needs more memory is better than none.
 */
function startAgainWithDaemonEnv(): string | undefined {
  const env = completedDaemonEnv(process.env);
  if (env === undefined) return undefined;
  const [program, ...script] = ownCommand();
  try {
    process.execve?.(program, [process.argv0, ...script, ...argv], env);
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
  return "this runtime cannot replace a process";
}

/** The daemon never loads this: the streams of `process` alone take 1.4 MiB of memory. */
async function commands(): Promise<number> {
  const lostOutput = watchOutput(process.stdout);
  const status = await command();
  await flushed(process.stdout);
  const lost = lostOutput();
  if (lost !== undefined) process.stderr.write(`Error: Cannot write the output: ${lost}\n`);
  await flushed(process.stderr);
  return lost !== undefined && status === 0 ? 1 : status;
}

async function command(): Promise<number> {
  const { runCli } = await import("./cli/main.ts");
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => interrupt.abort());
  return runCli({
    argv,
    env: process.env,
    stdout: screen(process.stdout),
    stderr: screen(process.stderr),
    clock: systemClock,
    self: ownCommand(),
    isRoot: process.getuid?.() === 0,
    interrupted: interrupt.signal,
    input: () => allOf(process.stdin),
    terminal: process.stdin.isTTY && process.stdout.isTTY ? terminal(process.stdin, process.stdout) : undefined,
  });
}

async function allOf(stream: NodeJS.ReadStream): Promise<string> {
  // The list of refs in a push, or the manifests that a chart renders to.
  const inputBytesMax = 67_108_864;
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const part = Buffer.from(chunk as Uint8Array);
    bytes += part.length;
    // With an errno it is a failure of this input and no bug of the command.
    if (bytes > inputBytesMax)
      throw Object.assign(new Error(`Cannot read the input: it has more than ${inputBytesMax} bytes`), {
        code: "EFBIG",
      });
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function terminal(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Terminal {
  return {
    // Some terminals do not tell their size.
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    hold(listener) {
      const onData = (keys: Buffer): void => listener.onKey(keys.toString("utf8"));
      const onResize = (): void => listener.onResize();
      input.setRawMode(true);
      input.on("data", onData);
      output.on("resize", onResize);
      input.resume();
      return () => {
        input.off("data", onData);
        output.off("resize", onResize);
        input.setRawMode(false);
        input.pause();
      };
    },
  };
}

/** In the compiled program the script lives in Bun's own file system; from source it is a file that Bun runs. */
function ownCommand(): readonly [string, ...string[]] {
  const script = process.argv[1] ?? "";
  return script === "" || script.startsWith("/$bunfs/") ? [process.execPath] : [process.execPath, script];
}

function screen(stream: NodeJS.WriteStream): { readonly isTerminal: boolean; write(text: string): void } {
  // An error without a listener would end the program before it has cleaned up.
  stream.on("error", () => undefined);
  return { isTerminal: stream.isTTY, write: (text) => void stream.write(text) };
}

/** Returns a function that tells why the output could not be written, such as a full disk. */
function watchOutput(stream: NodeJS.WriteStream): () => string | undefined {
  let reason: string | undefined;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // `levee ls | head -1` closes the pipe early, which is not an error.
    if (error.code !== "EPIPE") reason ??= error.code ?? error.message;
  });
  return () => reason;
}

/**
 * Resolves when everything written has left the process: an exit before that cuts a pipe off at 64 KiB. Only ending the
 * stream waits; the callback of an empty write comes at once.
 */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.end(() => resolve());
  });
}
