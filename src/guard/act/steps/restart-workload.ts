import { rolloutRestartLine } from "../../decide/kubectl-lines.ts";
import type { RestartableKind, RestartWorkloadStep, VerifyStep } from "../../decision/step.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { workloadPath } from "./daemon-set-live.ts";
import { isStuckStill } from "./fallen-workloads.ts";
import { restartPatch } from "./restart-patch.ts";
import { rolloutOf } from "./rollout-live.ts";
import { worldProblem } from "./verify-world.ts";
import { beganAt, isChangedSince, patchUntil, rehearsePatch, type PatchOperation } from "./workload-patch.ts";

/** Restarts one workload whose pods still do not start. Its own controller replaces them, by its own rules. */
export const restartWorkloadRunner: StepRunner<RestartWorkloadStep> = {
  async precondition(_step, { decision, world, settings }) {
    const verify = decision.spec.steps.find((one): one is VerifyStep => one.action === "Verify");
    const backlog = verify?.verify.checks.find(({ check }) => check === "BacklogGone");
    const problem = backlog === undefined ? undefined : worldProblem(backlog, world(), decision, settings);
    return problem === undefined ? undefined : `the avalanche is still there, and more pods would join it: ${problem}`;
  },

  async rehearse(step, context) {
    const found = await look(step, context);
    if (!("patch" in found)) return undefined;
    try {
      await rehearsePatch(context.api, pathOf(step), found.patch);
      return undefined;
    } catch (thrown) {
      // The step itself reads again.
      return isChangedSince(thrown) ? undefined : refusalText(thrown);
    }
  },

  async perform(step, context) {
    const { kind, namespace, name, uid } = step.restartWorkload;
    const object = `${kind.toLowerCase()}/${namespace}/${name}`;
    const target = { path: pathOf(step), uid, title: step.title, object, result: "restarted" };
    const found = await patchUntil(context, target, () => look(step, context));
    if ("isDone" in found) return { message: `${labelOf(step)} was restarted, and its pods are new and ready` };
    return {
      message: `${labelOf(step)} was left alone: ${found.leftAlone}`,
      lines: found.isWell ? [] : [rolloutRestartLine(kind, namespace, name)],
    };
  },

  async check(step, { api, decision }) {
    const live = await readObject(api, pathOf(step));
    // What was left alone is Verify's.
    if (!("isDone" in restartPatch(step, live, beganAt(decision)))) return undefined;
    const missing = rolloutOf(step.restartWorkload.kind, live);
    return missing === undefined ? undefined : `${labelOf(step)}: ${missing}`;
  },
};

type Outcome = { readonly isDone: true } | { readonly leftAlone: string; readonly isWell: boolean };

async function look(
  step: RestartWorkloadStep,
  { api, decision, world }: StepContext,
): Promise<{ readonly patch: readonly PatchOperation[] } | Outcome> {
  const found = restartPatch(step, await readObject(api, pathOf(step)), beganAt(decision));
  if ("leftAlone" in found) return { ...found, isWell: false };
  if ("isDone" in found || isStuckStill(step.restartWorkload, world())) return found;
  return { leftAlone: "its pods started by themselves", isWell: true };
}

const resources = {
  DaemonSet: "daemonsets",
  Deployment: "deployments",
  StatefulSet: "statefulsets",
} as const satisfies Record<RestartableKind, string>;

function pathOf({ restartWorkload }: RestartWorkloadStep): string {
  return workloadPath(resources[restartWorkload.kind], restartWorkload);
}

function labelOf({ restartWorkload: { kind, namespace, name } }: RestartWorkloadStep): string {
  return `${kind} ${namespace}/${name}`;
}
