import { mkdir, realpath, stat } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { errnoOf, LeveeError } from "../base/errors.ts";
import { sha256Hex } from "../base/sha256.ts";

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
 * Waits until no other daemon writes this folder. The lock is two abstract unix sockets, so a crash leaves nothing on
 * disk. One is named after the folder's path: it stays when the folder is removed and made again under a daemon that
 * still holds it. The other is named after the device and inode, so that two paths to one folder share a lock.
 * Abstract names belong to a network namespace, and all daemons run in the host's.
 */
export async function holdStateFolder(stateDir: string, options: HoldOptions): Promise<Lock> {
  const wait = waiter(options);
  for (;;) {
    const place = await placeOf(stateDir);
    // Always in this order, so that no two daemons wait for each other.
    using held = new DisposableStack();
    held.use(await listenWhenFree(place.byPath, wait));
    held.use(await listenWhenFree(place.byInode, wait));
    // Meanwhile the folder may have been made again.
    if ((await placeOf(stateDir)).byInode === place.byInode) return held.move();
  }
}

async function listenWhenFree(name: string, wait: () => Promise<void>): Promise<Lock> {
  for (;;) {
    const listener = tryListen(name);
    if (listener !== undefined) return { [Symbol.dispose]: () => listener.stop(true) };
    await wait();
  }
}

function waiter({ clock, signal, onWaiting }: HoldOptions): () => Promise<void> {
  let waiting = false;
  return async () => {
    if (!waiting) onWaiting?.();
    waiting = true;
    await clock.sleep(pollMsMin + clock.random() * (pollMsMax - pollMsMin), signal);
    signal.throwIfAborted();
  };
}

async function placeOf(stateDir: string): Promise<{ readonly byPath: string; readonly byInode: string }> {
  try {
    await mkdir(stateDir, { recursive: true, mode: 0o700 });
    const { dev, ino } = await stat(stateDir, { bigint: true });
    // A digest, because the name of a socket is short.
    const path = (await sha256Hex(await realpath(stateDir))).slice(0, 32);
    return { byPath: `\0levee-path-${path}`, byInode: `\0levee-state-${dev}-${ino}` };
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
