import { createServer } from "node:net";
import { errnoOf } from "../../base/errors.ts";
import { CommandFailure } from "../failure.ts";

/**
 * Lets one demo or storm run at a time. An abstract socket is the lock: the kernel frees it when its process ends, so a
 * killed demo never blocks the next one.
 */
export function takeLock(name: string, what = "demo"): Promise<AsyncDisposable> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error) => reject(errnoOf(error) === "EADDRINUSE" ? alreadyRunning(what) : error));
    server.listen(`\0${name}`, () => {
      server.unref();
      resolve({ [Symbol.asyncDispose]: () => new Promise((closed) => void server.close(() => closed())) });
    });
  });
}

function alreadyRunning(what: string): CommandFailure {
  return new CommandFailure("already-running", `Cannot start a second ${what}: one is running on this machine`, {
    remedy: "end it with Ctrl-C in its terminal, or wait until it ends",
  });
}
