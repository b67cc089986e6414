import { LeveeError } from "../../../base/errors.ts";
import { kubeStatusOf } from "../../../kube/client/api.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { timeMs } from "../../json-values.ts";
import { daemonSetPath, limitProblem, rolloutMissing, updatesOnDelete } from "./daemon-set-live.ts";
import { isPassing } from "../running-decision.ts";
import { holdsProblem } from "./hold-seen.ts";
import { memoryPatch, type PatchOperation } from "./memory-patch.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";

const requestMs = 10_000;
/** The patch tests the old value, so a second one after a lost answer changes nothing. */
const tries = 5;
const betweenTriesMs = 1_000;

/** Raises the memory limit of one container of a DaemonSet, whose controller then restarts the pods. */
export const setMemoryLimitRunner: StepRunner<SetMemoryLimitStep> = {
  async precondition(step, { api }) {
    const found = memoryPatch(step, await readObject(api, daemonSetPath(step)));
    return "problem" in found ? found.problem : undefined;
  },

  async rehearse(step, context) {
    const found = memoryPatch(step, await readObject(context.api, daemonSetPath(step)));
    if ("problem" in found) return found.problem;
    if ("isDone" in found) return undefined;
    try {
      await send(step, found.patch, context, "?dryRun=All");
      return undefined;
    } catch (thrown) {
      return (await changedMeanwhile(step, thrown, context)) ?? refusalText(thrown);
    }
  },

  async perform(step, context) {
    for (let attempt = 1; ; attempt += 1) {
      const problem = await holdsProblem(step, context);
      if (problem !== undefined) throw new LeveeError("not-ready", `Cannot raise the limit: ${problem}`);
      const isRaised = await raise(step, context, attempt === tries);
      if (isRaised) return { message: doneText(step) };
      await context.clock.sleep(betweenTriesMs, context.signal);
    }
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

/** False to try again: the patch may not have arrived, or the object has changed since the read. */
async function raise(step: SetMemoryLimitStep, context: StepContext, isLast: boolean): Promise<boolean> {
  const { uid, namespace, name } = step.setMemoryLimit;
  const found = memoryPatch(step, await readObject(context.api, daemonSetPath(step)));
  if ("problem" in found) throw new LeveeError("not-ready", `Cannot raise the limit: ${found.problem}`);
  if ("isDone" in found) return true;
  await context.intend(1, [uid]);
  try {
    await send(step, found.patch, context, "");
    context.audit(step.title, [`daemonset/${namespace}/${name}`], "patched");
    return true;
  } catch (thrown) {
    if (isLast || !(isPassing(thrown) || kubeStatusOf(thrown) === 422)) throw thrown;
    return false;
  }
}

async function send(
  step: SetMemoryLimitStep,
  patch: readonly PatchOperation[],
  { api }: StepContext,
  query: string,
): Promise<void> {
  await api.call({
    method: "PATCH",
    path: `${daemonSetPath(step)}${query}`,
    body: JSON.stringify(patch),
    contentType: "application/json-patch+json",
    deadlineMs: requestMs,
  });
}

/** A failed test is answered with 422 and no detail, so the object is read once more. */
async function changedMeanwhile(
  step: SetMemoryLimitStep,
  thrown: unknown,
  { api }: StepContext,
): Promise<string | undefined> {
  if (kubeStatusOf(thrown) !== 422) return undefined;
  const found = memoryPatch(step, await readObject(api, daemonSetPath(step)));
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
