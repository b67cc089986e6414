import { LeveeError } from "../../../base/errors.ts";
import { workloadChecks } from "../../decide/verify-step.ts";
import type { FollowedWorkload } from "../../decision/decision.ts";
import type { VerifyCheck, VerifyStep } from "../../decision/step.ts";
import { followedBy, isStuckStill, newlyFallen } from "./fallen-workloads.ts";
import { limitsProblem } from "./hold-seen.ts";
import { notEnough } from "./lower-problem.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { liveProblem } from "./verify-live.ts";
import { goneText, worldProblem } from "./verify-world.ts";

/** Waits until every effect of the cause is gone at the same time, also those that came after the proposal. */
export const verifyRunner: StepRunner<VerifyStep> = {
  async precondition() {
    return undefined;
  },

  async rehearse() {
    return undefined;
  },

  async perform({ verify }, { decision }) {
    const { length } = verify.checks;
    const plan = length === 1 ? "Its check holds" : `All ${length} checks hold`;
    const later = followedBy(decision).length;
    if (later === 0) return { message: plan };
    return { message: `${plan}, and so do those of ${later} workloads that stopped starting after the proposal` };
  },

  async check({ verify }, context) {
    await writeFallen(context);
    mustBeEnough(verify.checks, context);
    const { decision, settings } = context;
    // Use the local facts first: a recovering cluster should not answer dozens of reads every other second.
    const seen = context.world();
    const early = [
      ...verify.checks.flatMap((check) => named(check, worldProblem(check, seen, decision, settings))),
      ...followedBy(decision).flatMap((workload) => stillStuck(workload, context)),
    ];
    if (early.length > 0) return missingText(early, verify.checks.length + followedBy(decision).length);
    return await liveMissing(verify.checks, context);
  },
};

/** A daemon that is killed with less memory is killed again: the plan pauses at once. */
function mustBeEnough(checks: readonly VerifyCheck[], context: StepContext): void {
  for (const check of checks) {
    const problem = check.check === "MemoryEnough" ? notEnough(check, context) : undefined;
    if (problem !== undefined) throw new LeveeError("not-ready", `Cannot call the lower memory enough: ${problem}`);
  }
}

/** A workload may still fall while the others recover. */
async function writeFallen(context: StepContext): Promise<void> {
  const { decision, world, settings, reported } = context;
  const fallen = newlyFallen(decision, world(), settings);
  if (fallen.length > 0) await context.report({ followed: [...(reported.followed ?? []), ...fallen] });
}

function stillStuck(workload: FollowedWorkload, { world }: StepContext): readonly string[] {
  const { kind, namespace, name } = workload;
  return isStuckStill(workload, world()) ? [`${kind} ${namespace}/${name} has pods that do not start`] : [];
}

/** The watch is a moment behind, so each check is confirmed in the API server. */
async function liveMissing(planned: readonly VerifyCheck[], context: StepContext): Promise<string | undefined> {
  const followed = followedBy(context.decision).flatMap(workloadChecks);
  const late: string[] = [];
  for (const check of planned) late.push(...named(check, await liveProblem(check, context)));
  for (const check of followed) late.push(...named(check, await presentProblem(check, context)));
  const limit = await limitsProblem(context);
  if (limit !== undefined) late.push(limit);
  return late.length === 0 ? undefined : missingText(late, planned.length + followed.length);
}

/** Nobody approved this check: a workload that a person has deleted since does not keep the Decision from its end. */
async function presentProblem(check: VerifyCheck, context: StepContext): Promise<string | undefined> {
  const problem = await liveProblem(check, context);
  return problem?.endsWith(goneText) === true ? undefined : problem;
}

function named(check: VerifyCheck, problem: string | undefined): readonly string[] {
  return problem === undefined ? [] : [`${check.check} ${problem}`];
}

/** The number comes first, because the names may not fit into one message. */
function missingText(problems: readonly string[], total: number): string {
  return `${problems.length} of ${total} checks do not hold: ${problems.join("; ")}`;
}
