import { errnoOf } from "../../../base/errors.ts";
import type { Caller } from "./caller.ts";

/** A caller whose calls can be ended all at once. */
export interface StoppableCaller extends Caller {
  /** Asks the calls under way to undo what they did and end; new ones are made as before. */
  hurry(): void;
  /** Kills the calls under way, and makes no new ones: each fails at once. */
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
      if (errnoOf(error) !== "ESRCH") throw error; // It has ended; we have not heard of it yet.
    }
  }
}
