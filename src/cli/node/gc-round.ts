import type { GcAnswer } from "../../wire/node-view.ts";
import { askDaemon, type Context } from "../context.ts";
import { askFindings } from "./ask-pages.ts";
import { CommandFailure } from "../failure.ts";

/** The daemon answers at once and works in the background. */
const pollMs = 100;
/** Each plugin gets some seconds. After this long the daemon is stuck, and the person needs an error. */
const roundMsMax = 300_000;

/** Makes the daemon run one GC round now and waits for its end. */
export async function runGcRound(context: Context, run: "look" | "fix"): Promise<GcAnswer> {
  const { clock, interrupted } = context.shell;
  // Pages, because the answer also has the findings of the last round.
  const { round } = await askDaemon(context, { ask: "gc", run, after: "" });
  const endsMs = clock.monotonicMs() + roundMsMax;
  while (clock.monotonicMs() < endsMs) {
    const answer = await askDaemon(context, { ask: "gc", after: "" });
    if (answer.finished >= round) return requireLook(await askFindings(context));
    if (answer.round < round) throw ended("Cannot finish the round: the daemon was restarted meanwhile");
    await clock.sleep(pollMs, interrupted);
  }
  throw ended(`The round did not end within ${roundMsMax / 1_000} s; the daemon goes on with it`);
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
