import { LeveeError } from "../../../base/errors.ts";
import { isLess } from "../../decide/memory-change.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { timeMs } from "../../json-values.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { daemonSetPath, limitProblem, rolloutMissing, updatesOnDelete } from "./daemon-set-live.ts";
import { holdsProblem } from "./hold-seen.ts";
import { lowerFacts } from "./lower-problem.ts";
import { memoryPatch, type MemoryPatch } from "./memory-patch.ts";
import { beganAt, isChangedSince, patchUntil, rehearsePatch } from "./workload-patch.ts";

/** Changes the memory limit of one container of a DaemonSet, whose controller then restarts the pods. */
export const setMemoryLimitRunner: StepRunner<SetMemoryLimitStep> = {
  async precondition(step, context) {
    const found = await look(step, context);
    return "problem" in found ? found.problem : undefined;
  },

  async rehearse(step, context) {
    const found = await look(step, context);
    if ("problem" in found) return found.problem;
    if ("isDone" in found) return undefined;
    try {
      await rehearsePatch(context.api, daemonSetPath(step), found.patch);
      return undefined;
    } catch (thrown) {
      return (await changedMeanwhile(step, thrown, context)) ?? refusalText(thrown);
    }
  },

  async perform(step, context) {
    const { uid, namespace, name } = step.setMemoryLimit;
    const object = `daemonset/${namespace}/${name}`;
    const target = { path: daemonSetPath(step), uid, title: step.title, object, result: "patched" };
    await patchUntil(context, target, async () => {
      const problem = await holdsProblem(step, context);
      if (problem !== undefined) throw cannot(step, problem);
      const found = await look(step, context);
      if ("problem" in found) throw cannot(step, found.problem);
      return found;
    });
    return { message: doneText(step) };
  },

  async check(step, context) {
    const live = await readObject(context.api, daemonSetPath(step));
    // Waiting does not help here.
    const lost = limitProblem(step, live) ?? (await holdsProblem(step, context));
    if (lost !== undefined) throw new LeveeError("not-ready", `Cannot wait for the new pods any longer: ${lost}`);
    const missing = rolloutMissing(live) ?? killedSince(step, context);
    if (missing === undefined || !updatesOnDelete(live)) return missing;
    return `${missing}; its update strategy is OnDelete, so a person has to delete its pods one node after the other`;
  },
};

/** What is to be sent now. Memory goes down only while it is still calm. */
async function look(step: SetMemoryLimitStep, context: StepContext): Promise<MemoryPatch> {
  const at = beganAt(context.decision);
  const live = await readObject(context.api, daemonSetPath(step));
  if (!isLowering(step)) return memoryPatch(step, live, { at, seen: "" });
  const facts = lowerFacts(step, context);
  const found = memoryPatch(step, live, { at, seen: "seen" in facts ? facts.seen : "" });
  return "patch" in found && "problem" in facts ? facts : found;
}

function isLowering({ setMemoryLimit: { oldLimit, newLimit } }: SetMemoryLimitStep): boolean {
  return isLess(newLimit, oldLimit);
}

function cannot(step: SetMemoryLimitStep, why: string): LeveeError {
  return new LeveeError("not-ready", `Cannot ${isLowering(step) ? "lower" : "raise"} the limit: ${why}`);
}

/** A failed test is answered without any detail, so the object is read once more. */
async function changedMeanwhile(
  step: SetMemoryLimitStep,
  thrown: unknown,
  context: StepContext,
): Promise<string | undefined> {
  if (!isChangedSince(thrown)) return undefined;
  const found = await look(step, context);
  return "problem" in found ? `it has changed since it was read: ${found.problem}` : undefined;
}

/** A pod created after the change that was OOM-killed again. */
function killedSince({ id, setMemoryLimit }: SetMemoryLimitStep, { decision, world }: StepContext): string | undefined {
  const intent = decision.status?.intent;
  const sinceMs = intent?.step === id ? timeMs(intent.at) : Number.POSITIVE_INFINITY;
  const owner = `DaemonSet/${setMemoryLimit.name}`;
  for (const pod of world().pods) {
    if (pod.namespace !== setMemoryLimit.namespace || pod.owner !== owner) continue;
    if (pod.createdMs >= sinceMs && pod.oomKilledMs > 0) return `${pod.name} on ${pod.node} was OOM-killed again`;
  }
  return undefined;
}

function doneText({ setMemoryLimit }: SetMemoryLimitStep): string {
  const { namespace, name, container, newLimit, oldRequest, newRequest } = setMemoryLimit;
  const request = oldRequest === newRequest ? "" : ` and asks for ${newRequest}`;
  return `${container} of DaemonSet ${namespace}/${name} has ${newLimit}${request}, and its pods are new and ready`;
}
