import { createServer } from "node:net";
import { errnoOf } from "../../base/errors.ts";
import { CommandFailure } from "../failure.ts";

/**
 * Lets one demonstration or storm run at a time. An abstract socket is the lock: the kernel frees it with the process that
 * holds it, however that ends, so a killed demonstration never blocks the next one.
 */
export function takeLock(name: string, what = "demonstration"): Promise<AsyncDisposable> {
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
    remedy: "end it with Ctrl-C in its terminal, or let it come to its end",
  });
}
