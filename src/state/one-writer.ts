import { mkdir, stat } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { errnoOf, LeveeError } from "../base/errors.ts";

/** The right to write a state folder. Disposing releases it, and so does the kernel when the process dies. */
type Lock = Disposable;

interface HoldOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once if another daemon holds the folder. */
  readonly onWaiting?: () => void;
}

const pollMsMin = 200;
const pollMsMax = 1_000;

/**
 * Waits until no other daemon writes this folder. The lock is an abstract unix socket named after the folder's device
 * and inode. So two paths to one folder share a lock, and a crash leaves no stale lock on disk.
 * Abstract names belong to a network namespace, and all daemons run in the host's.
 */
export async function holdStateFolder(stateDir: string, options: HoldOptions): Promise<Lock> {
  const name = await lockName(stateDir);
  let waiting = false;
  for (;;) {
    options.signal.throwIfAborted();
    const listener = tryListen(name);
    if (listener !== undefined) return { [Symbol.dispose]: () => listener.stop(true) };
    if (!waiting) options.onWaiting?.();
    waiting = true;
    await options.clock.sleep(pollMsMin + options.clock.random() * (pollMsMax - pollMsMin), options.signal);
  }
}

async function lockName(stateDir: string): Promise<string> {
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const { dev, ino } = await stat(stateDir, { bigint: true });
    return `\0levee-state-${dev}-${ino}`;
  } catch (cause) {
    throw new LeveeError("state-unwritable", `Cannot make the state folder ${stateDir}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/**
 * A listening socket, or undefined when another process has the name. Bun's own, because the daemon avoids node:net
 * (ADR 0025).
 */
function tryListen(name: string): Bun.UnixSocketListener<undefined> | undefined {
  try {
    // No client has a reason to connect, so it is cut off.
    const visitor = { open: (socket: Bun.Socket) => socket.terminate(), data: () => undefined };
    const listener = Bun.listen({ unix: name, data: undefined, socket: visitor });
    listener.unref();
    return listener;
  } catch (cause) {
    if (errnoOf(cause) === "EADDRINUSE") return undefined;
    const { message } = cause as Error; // what Bun throws
    throw new LeveeError("state-unwritable", `Cannot take the lock of the state folder: ${message}`, { cause });
  }
}
