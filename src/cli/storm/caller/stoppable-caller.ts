import { errnoOf } from "../../../base/errors.ts";
import type { Caller } from "./caller.ts";

/** A caller that can end all its calls at once. */
export interface StoppableCaller extends Caller {
  /** Asks the running calls to undo their work and end; new calls are still made. */
  hurry(): void;
  /** Kills the running calls; every new call fails at once. */
  stop(): void;
}

export function stoppable(caller: Caller): StoppableCaller {
  let isStopped = false;
  return {
    running: caller.running,
    call: (verb, sandbox) =>
      isStopped ? Promise.resolve({ isOk: false, message: "the storm was stopped" }) : caller.call(verb, sandbox),
    hurry: () => signalAll(caller.running, "SIGTERM"),
    stop() {
      isStopped = true;
      signalAll(caller.running, "SIGKILL");
    },
  };
}

function signalAll(pids: ReadonlySet<number>, signal: "SIGTERM" | "SIGKILL"): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if (errnoOf(error) !== "ESRCH") throw error; // It has ended, but its exit event has not arrived yet.
    }
  }
}
