import { LeveeError } from "../../../base/errors.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { isCausePresent, startedOf, stuckOf } from "../../decide/cause-present.ts";
import { handReason } from "../../decide/causes/put-back.ts";
import { undoScaleLine } from "../../decide/causes/scale-step.ts";
import { resumeJobLines } from "../../decide/kubectl-lines.ts";
import type { Decision } from "../../decision/decision.ts";
import type { JobTarget, ScaleOwner } from "../../decision/scale-owner.ts";
import type { ScaleOwnerStep } from "../../decision/step.ts";
import { cronJobAbove, topOwnerOf } from "../../detect/top-owner.ts";
import { queueLabel } from "../../facts/kueue-job.ts";
import type { World } from "../../facts/world.ts";
import { readObject } from "../read-object.ts";
import { refusalText } from "../refusal-text.ts";
import type { StepContext, StepRunner } from "../step-runner.ts";
import { scaleMissing, scalePatch, scalePath, suspendPatch } from "./scale-patch.ts";
import { isChangedSince, patchUntil, rehearsePatch, type PatchOperation } from "./workload-patch.ts";

/** As for a new plan: fewer that have started do not make it wrong. */
const driftMax = 10;

/** Makes the owner of a backlog smaller or suspends it. Its own controller removes the pods. */
export const scaleOwnerRunner: StepRunner<ScaleOwnerStep> = {
  async precondition({ scaleOwner }, context) {
    const { decision, world, settings, api } = context;
    const found = scalePatch(scaleOwner, await readObject(api, pathOf(scaleOwner)));
    if ("problem" in found) return found.problem;
    // Done by this Decision before a pause: its pods may be gone by now.
    if ("isDone" in found) return undefined;
    if (!isCausePresent(decision, world(), settings))
      return "its cause is gone: too few of its pods still do not start";
    return putBackProblem(context) ?? endsProblem(scaleOwner, decision, world());
  },

  async rehearse({ scaleOwner }, context) {
    const path = pathOf(scaleOwner);
    const found = scalePatch(scaleOwner, await readObject(context.api, path));
    if ("problem" in found) return found.problem;
    if ("isDone" in found) return undefined;
    try {
      await rehearsePatch(context.api, path, found.patch);
      return undefined;
    } catch (thrown) {
      // Another writer was faster; the step itself reads again.
      return isChangedSince(thrown) ? undefined : refusalText(thrown);
    }
  },

  async perform({ scaleOwner, title }, context) {
    const isOurs = await change(scaleOwner, context, title);
    const jobs = scaleOwner.way === "Suspend" ? (scaleOwner.jobs ?? []) : [];
    const suspended: string[] = [];
    const leftAlone: string[] = [];
    for (const job of jobs) {
      const left = await suspendJob(scaleOwner.namespace, job, context);
      if (left === undefined) suspended.push(job.name);
      else leftAlone.push(`Job ${job.name}: ${left}`);
    }
    return {
      message: `${doneText(scaleOwner, isOurs)}${jobs.length === 0 ? "" : `, with ${suspended.length} of its Jobs`}`,
      lines: [undoScaleLine(scaleOwner), ...resumeJobLines(scaleOwner.namespace, suspended)],
      ...(leftAlone.length === 0 ? {} : { leftAlone }),
    };
  },

  async check({ scaleOwner }, { api }) {
    return scaleMissing(scaleOwner, await readObject(api, pathOf(scaleOwner)));
  },
};

/** An autoscaler may have come since the proposal. */
function putBackProblem({ decision, world, settings }: StepContext): string | undefined {
  const seen = world();
  if (seen.owners === undefined) return "the guard cannot read its owners and autoscalers now";
  const [pod] = stuckOf(decision, seen);
  if (pod === undefined) return undefined;
  const direct = topOwnerOf(pod, seen);
  const owner = decision.spec.subject.shape.startsWith("CronJob/") ? cronJobAbove(direct, seen) : direct;
  return owner === undefined ? undefined : handReason({ owner, sinceMs: seen.nowMs }, seen, settings)?.what;
}

/** Pods that have started since the proposal are no part of what was approved. Suspending a CronJob ends none. */
function endsProblem(change: ScaleOwner, decision: Decision, seen: World): string | undefined {
  if (change.kind === "CronJob") return undefined;
  const started = startedOf(decision, seen);
  const ended = change.way === "Scale" ? started - change.to : started;
  if (ended < (change.way === "Scale" ? driftMax : 1)) return undefined;
  return `${started} of its pods have started by now, and it would end ${ended} of them; make it smaller by hand, or reject this Decision`;
}

/** True when this call changed it, false when it was so already. */
async function change(scaleOwner: ScaleOwner, context: StepContext, title: string): Promise<boolean> {
  const { kind, namespace, name, uid } = scaleOwner;
  const path = pathOf(scaleOwner);
  const target = { path, uid, title, object: `${kind.toLowerCase()}/${namespace}/${name}`, result: "changed" };
  const found = await patchUntil(context, target, async () => {
    const needed = scalePatch(scaleOwner, await readObject(context.api, path));
    if ("problem" in needed) throw new LeveeError("not-ready", `Cannot change it: ${needed.problem}`);
    return "isDone" in needed ? { wasSo: true } : needed;
  });
  return "isDone" in found;
}

/** Why a Job of the plan was left alone; undefined when it is suspended. */
async function suspendJob(
  namespace: string,
  { name, uid }: JobTarget,
  context: StepContext,
): Promise<string | undefined> {
  const path = scalePath("Job", namespace, name);
  const object = `job/${namespace}/${name}`;
  const target = { path, uid, title: "suspend a Job", object, result: "suspended", batch: 2 };
  const found = await patchUntil(context, target, async () => lookAtJob(uid, await readObject(context.api, path)));
  return "left" in found ? found.left : undefined;
}

function lookAtJob(
  uid: string,
  live: unknown,
): { readonly patch: readonly PatchOperation[] } | { readonly left: string | undefined } {
  if (live === undefined) return { left: "it is gone" };
  if (textOf(objectOf(objectOf(live)["metadata"])["uid"]) !== uid) return { left: "it was replaced" };
  if (textOf(objectOf(objectOf(objectOf(live)["metadata"])["labels"])[queueLabel]) !== "")
    return { left: "Kueue decides when it runs, and would resume it" };
  const found = suspendPatch(uid, live);
  if ("isDone" in found || "problem" in found) return { left: undefined };
  // What has started since the proposal would be ended.
  return isStarted(live) ? { left: "a pod of it is ready" } : found;
}

function isStarted(job: unknown): boolean {
  const { ready } = objectOf(objectOf(job)["status"]);
  return typeof ready === "number" && ready > 0;
}

function doneText(scaleOwner: ScaleOwner, isOurs: boolean): string {
  const { kind, namespace, name } = scaleOwner;
  const label = `${kind} ${namespace}/${name}`;
  const how = scaleOwner.way === "Scale" ? `scaled from ${scaleOwner.from} to ${scaleOwner.to}` : "suspended";
  return isOurs ? `${label} is ${how}` : `${label} was ${scaleOwner.way === "Scale" ? "smaller" : "suspended"} already`;
}

function pathOf({ kind, namespace, name }: ScaleOwner): string {
  return scalePath(kind, namespace, name);
}
