import type { GcAnswer } from "../../wire/node-view.ts";
import { askDaemon, type Context } from "../context.ts";
import { CommandFailure } from "../failure.ts";

/** The daemon answers at once and works meanwhile. */
const pollMs = 100;
/** Each plugin has seconds of its own; beyond this the daemon is stuck, and the person is better off with a word. */
const roundMsMax = 300_000;

/** Has the daemon look for garbage now, or look and act, and waits for the end of that round. */
export async function runGcRound(context: Context, run: "look" | "fix"): Promise<GcAnswer> {
  const { clock, interrupted } = context.shell;
  const { round } = await askDaemon(context, { ask: "gc", run });
  const endsMs = clock.monotonicMs() + roundMsMax;
  while (clock.monotonicMs() < endsMs) {
    const answer = await askDaemon(context, { ask: "gc" });
    if (answer.finished >= round) return requireLook(answer);
    if (answer.round < round) throw ended("The daemon was started anew meanwhile");
    await clock.sleep(pollMs, interrupted);
  }
  throw ended(`The round has not ended within ${roundMsMax / 1_000} s; the daemon goes on with it`);
}

function ended(message: string): CommandFailure {
  return new CommandFailure("try-later", message, { remedy: "repeat the command" });
}

function requireLook(answer: GcAnswer): GcAnswer {
  if (answer.failure === "") return answer;
  throw new CommandFailure("try-later", `Cannot look for garbage: ${answer.failure}`, {
    remedy: "check that the resident hand runs on this node: levee-shim --resident",
  });
}
