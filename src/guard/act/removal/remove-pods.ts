import { LeveeError } from "../../../base/errors.ts";
import type { RemovePodsStep } from "../../decision/step.ts";
import { breakerProblem } from "./budget-grant.ts";
import { classifyTarget } from "./classify-target.ts";
import { podPath } from "./delete-options.ts";
import { PodRemoval } from "./pod-removal.ts";
import { readObject } from "../read-object.ts";
import { removalBatches } from "./removal-batches.ts";
import { sourceProblem } from "../steps/source-stopped.ts";
import { stormProblem } from "../steps/storm.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";

/** Removes pods that never started a container: by UID, in batches per node, gracefully first. */
export const removePodsRunner: StepRunner<RemovePodsStep> = {
  async precondition(step, context) {
    return (
      causeProblem(step, context, 0) ??
      (await sourceProblem(context.api, step.removePods.namespace, context.world())) ??
      (await breakerProblem(context))
    );
  },

  /** Tries all targets before the first removal. */
  async rehearse(step, context) {
    const removal = new PodRemoval(step, context);
    for (const target of step.targets) {
      const live = await readObject(context.api, podPath(target));
      if (classifyTarget(target, live) !== "Remove") continue;
      const refusal = await removal.refusalOf(target);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  },

  async perform(step, context) {
    const removal = new PodRemoval(step, context);
    const batches = removalBatches(step.targets, step.removePods.batchPerNode);
    for (const [index, batch] of batches.entries()) {
      const problem =
        causeProblem(step, context, removal.removed) ??
        stormProblem(step, context.decision, context.world(), context.settings);
      if (problem !== undefined) throw new LeveeError("not-ready", problem);
      await removal.carryOut(index + 1, batch);
      await context.report(removal.report());
    }
    return removal.report();
  },

  check(step, context) {
    return Promise.resolve(stillThere(step, context));
  },
};

/**
 * The avalanche has ended by itself, so removals stop. Targets that are still Pending count as present, and so do those
 * that this step has removed, under any leader or by its last intent.
 */
function causeProblem(step: RemovePodsStep, context: StepContext, removedNow: number): string | undefined {
  const { decision, reported, world } = context;
  const { intent } = decision.status ?? {};
  const uids = new Set(step.targets.map(({ uid }) => uid));
  const intended = new Set(intent?.step === step.id ? intent.uids : []);
  let stuck = 0;
  for (const pod of world().pods) {
    if (!uids.has(pod.uid)) continue;
    intended.delete(pod.uid);
    if (pod.phase === "Pending" && !pod.everRan) stuck += 1;
  }
  const present = stuck + Math.max(removedNow, reported.removed ?? 0) + intended.size;
  if (present >= step.removePods.presentMin) return undefined;
  return `its cause is gone: of ${step.targets.length} pods only ${stuck} are still Pending; the guard removes no more`;
}

/** The watch shows a deletion only when the pod is really gone. */
function stillThere({ targets }: RemovePodsStep, { world, reported }: StepContext): string | undefined {
  const left = new Set(reported.leftAlone?.map((line) => line.split(":")[0]));
  const awaited = new Set(
    targets.filter(({ namespace, name }) => !left.has(`${namespace}/${name}`)).map(({ uid }) => uid),
  );
  let count = 0;
  for (const pod of world().pods) if (awaited.has(pod.uid)) count += 1;
  return count === 0 ? undefined : `${count} of ${targets.length} pods still exist`;
}
