import { LeveeError } from "../../../base/errors.ts";
import { kubeStatusOf } from "../../../kube/client/api.ts";
import { rolloutRestartLine } from "../../decide/kubectl-lines.ts";
import type { RestartableKind, RestartWorkloadStep, VerifyStep } from "../../decision/step.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import { isPassing } from "../running-decision.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { workloadPath } from "./daemon-set-live.ts";
import { isStuckStill } from "./fallen-workloads.ts";
import type { PatchOperation } from "./memory-patch.ts";
import { restartPatch } from "./restart-patch.ts";
import { rolloutOf } from "./rollout-live.ts";
import { worldProblem } from "./verify-world.ts";

const requestMs = 10_000;
/** The patch tests what was read, so a second one after a lost answer changes nothing. */
const tries = 5;
const betweenTriesMs = 1_000;

/** Restarts one workload whose pods still do not start. Its own controller replaces them, by its own rules. */
export const restartWorkloadRunner: StepRunner<RestartWorkloadStep> = {
  async precondition(_step, { decision, world }) {
    const verify = decision.spec.steps.find((one): one is VerifyStep => one.action === "Verify");
    const backlog = verify?.verify.checks.find(({ check }) => check === "BacklogGone");
    const problem = backlog === undefined ? undefined : worldProblem(backlog, world(), decision);
    return problem === undefined ? undefined : `the avalanche is still there, and more pods would join it: ${problem}`;
  },

  async rehearse(step, context) {
    const found = await look(step, context);
    if (!("patch" in found)) return undefined;
    try {
      await send(step, found.patch, context, "?dryRun=All");
      return undefined;
    } catch (thrown) {
      // Another writer was faster; the step itself reads again.
      return kubeStatusOf(thrown) === 422 ? undefined : refusalText(thrown);
    }
  },

  async perform(step, context) {
    const { kind, namespace, name } = step.restartWorkload;
    for (let attempt = 1; ; attempt += 1) {
      const found = await look(step, context);
      if ("isDone" in found) return { message: `${labelOf(step)} was restarted, and its pods are new and ready` };
      if ("leftAlone" in found)
        return {
          message: `${labelOf(step)} was left alone: ${found.leftAlone}`,
          lines: found.isWell ? [] : [rolloutRestartLine(kind, namespace, name)],
        };
      if (!(await restart(step, found.patch, context, attempt === tries)))
        await context.clock.sleep(betweenTriesMs, context.signal);
    }
  },

  async check(step, { api, decision }) {
    const live = await readObject(api, pathOf(step));
    // What was left alone is Verify's.
    if (!("isDone" in restartPatch(step, live, beganAt(decision)))) return undefined;
    const missing = rolloutOf(step.restartWorkload.kind, live);
    return missing === undefined ? undefined : `${labelOf(step)}: ${missing}`;
  },
};

type Look =
  | { readonly patch: readonly PatchOperation[] }
  | { readonly isDone: true }
  | { readonly leftAlone: string; readonly isWell: boolean };

async function look(step: RestartWorkloadStep, { api, decision, world }: StepContext): Promise<Look> {
  const found = restartPatch(step, await readObject(api, pathOf(step)), beganAt(decision));
  if ("leftAlone" in found) return { ...found, isWell: false };
  if ("isDone" in found || isStuckStill(step.restartWorkload, world())) return found;
  return { leftAlone: "its pods started by themselves", isWell: true };
}

/** False to try again: the patch may not have arrived, or the object has changed since the read. */
async function restart(
  step: RestartWorkloadStep,
  patch: readonly PatchOperation[],
  context: StepContext,
  isLast: boolean,
): Promise<boolean> {
  const { kind, namespace, name, uid } = step.restartWorkload;
  await context.intend(1, [uid]);
  try {
    await send(step, patch, context, "");
    context.audit(step.title, [`${kind.toLowerCase()}/${namespace}/${name}`], "restarted");
    return true;
  } catch (thrown) {
    if (isLast || !(isPassing(thrown) || kubeStatusOf(thrown) === 422)) throw thrown;
    return false;
  }
}

async function send(
  step: RestartWorkloadStep,
  patch: readonly PatchOperation[],
  { api }: StepContext,
  query: string,
): Promise<void> {
  await api.call({
    method: "PATCH",
    path: `${pathOf(step)}${query}`,
    body: JSON.stringify(patch),
    contentType: "application/json-patch+json",
    deadlineMs: requestMs,
  });
}

const resources = {
  DaemonSet: "daemonsets",
  Deployment: "deployments",
  StatefulSet: "statefulsets",
} as const satisfies Record<RestartableKind, string>;

function pathOf({ restartWorkload }: RestartWorkloadStep): string {
  return workloadPath(resources[restartWorkload.kind], restartWorkload);
}

function beganAt({ status }: StepContext["decision"]): string {
  if (status?.startedAt !== undefined) return status.startedAt;
  throw new LeveeError("internal", "Cannot restart a workload: the Decision does not say when it began");
}

function labelOf({ restartWorkload: { kind, namespace, name } }: RestartWorkloadStep): string {
  return `${kind} ${namespace}/${name}`;
}
