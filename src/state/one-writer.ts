import { mkdir, stat } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { errnoOf, LeveeError } from "../base/errors.ts";

/** The right to write a state folder. Given back by disposing it, or by the kernel when the process dies. */
type Lock = Disposable;

interface HoldOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once if another daemon has the folder. */
  readonly onWaiting?: () => void;
}

const pollMsMin = 200;
const pollMsMax = 1_000;

/**
 * Waits until no other daemon writes this folder. The lock is an abstract unix socket named after the folder's device
 * and inode: two paths to one folder meet, nothing is left on disk after a crash, and no age has to be guessed.
 * Such names live in the network namespace, so both daemons must be in the host's, which they are.
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

/** A listening socket, or undefined when somebody else has the name. Of Bun, as the daemon has no node:net: ADR 0025. */
function tryListen(name: string): Bun.UnixSocketListener<undefined> | undefined {
  try {
    // Nobody has business here; a visitor gets nothing.
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
