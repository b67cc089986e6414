import type { DryRunAnswer } from "../../wire/dry-run.ts";
import { askDaemon, type Context } from "../context.ts";
import { toFailure, type CommandFailure } from "../failure.ts";
import { lostDryRun, refusedDryRun, pollMs, triesMsMax, type DryRunResult } from "./dry-run-result.ts";

/** Has the daemon of this machine try a network, over its socket, and waits for the end. */
export async function dryRunHere(context: Context, network: string): Promise<DryRunResult> {
  const { clock, interrupted } = context.shell;
  const [namespace = "", name = ""] = network.split("/");
  const endsMs = clock.monotonicMs() + triesMsMax;
  try {
    let answer: DryRunAnswer = await askDaemon(context, { ask: "dry-run", run: { namespace, name } });
    while (answer.state === "running") {
      if (clock.monotonicMs() >= endsMs) return lostDryRun(`it has not ended within ${triesMsMax / 1_000} s`);
      await clock.sleep(pollMs, interrupted);
      answer = await askDaemon(context, { ask: "dry-run", id: answer.id });
    }
    return answer;
  } catch (thrown) {
    const failure = toFailure(thrown);
    if (failure.code === "interrupted") throw failure;
    return refusedDryRun(reasonOf(failure), failure.remedy);
  }
}

/** An older daemon does not know the question. */
function reasonOf({ code, message }: CommandFailure): string {
  return code === "decode-failed" ? "the daemon of this node is too old for a dry run" : message;
}
