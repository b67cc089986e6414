import type { VerifyCheck, VerifyStep } from "../../decision/step.ts";
import { limitsProblem } from "./hold-seen.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { liveProblem } from "./verify-live.ts";
import { worldProblem } from "./verify-world.ts";

/** Waits until every effect of the cause is gone at the same time. It changes nothing. */
export const verifyRunner: StepRunner<VerifyStep> = {
  async precondition() {
    return undefined;
  },

  async rehearse() {
    return undefined;
  },

  async perform({ verify }) {
    return { message: verify.checks.length === 1 ? "Its check holds" : `All ${verify.checks.length} checks hold` };
  },

  async check({ verify }, context) {
    // Use the local facts first: a recovering cluster should not answer dozens of reads every other second.
    const seen = context.world();
    const early = verify.checks.flatMap((check) => named(check, worldProblem(check, seen, context.decision)));
    if (early.length > 0) return missingText(early, verify.checks.length);
    return await liveMissing(verify.checks, context);
  },
};

/** The watch is a moment behind, so each check is confirmed in the API server. */
async function liveMissing(checks: readonly VerifyCheck[], context: StepContext): Promise<string | undefined> {
  const late: string[] = [];
  for (const check of checks) late.push(...named(check, await liveProblem(check, context)));
  const limit = await limitsProblem(context);
  if (limit !== undefined) late.push(limit);
  return late.length === 0 ? undefined : missingText(late, checks.length);
}

function named(check: VerifyCheck, problem: string | undefined): readonly string[] {
  return problem === undefined ? [] : [`${check.check} ${problem}`];
}

/** The number comes first, because the names may not fit into one message. */
function missingText(problems: readonly string[], total: number): string {
  return `${problems.length} of ${total} checks do not hold: ${problems.join("; ")}`;
}
