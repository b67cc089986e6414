import type { KubeApi } from "../../../kube/client/api.ts";
import { revertState } from "../../decide/sync-window.ts";
import type { HoldArgoAppStep, SetMemoryLimitStep, Step } from "../../decision/step.ts";
import type { ApplicationFacts, ProjectFacts } from "../../facts/world.ts";
import { projectApplication, projectAppProject } from "../../observe/project-argo.ts";
import { daemonSetPath, limitProblem } from "./daemon-set-live.ts";
import { readObject } from "../read-object.ts";
import type { StepContext } from "../step-runner.ts";

type LookContext = Pick<StepContext, "api" | "clock" | "decision">;

/**
 * Why Argo CD could revert the plan's changes, by fresh reads; undefined when it cannot. Checked before every step after a
 * hold, because a person can end the hold at any time.
 */
export async function holdsProblem(step: Step, context: LookContext): Promise<string | undefined> {
  const problems: string[] = [];
  for (const hold of context.decision.spec.steps) {
    if (hold.action !== "HoldArgoApp" || hold.id >= step.id || !isSeen(hold, context)) continue;
    const problem = await holdProblem(hold, context);
    if (problem !== undefined) problems.push(problem);
  }
  if (problems.length === 0) return undefined;
  // Once git has the value, a person may end the hold. Then only the live value counts.
  if (isLocked(context)) return await limitsProblem(context);
  return problems.join("; ");
}

/** Why this Application would sync by itself; undefined when it is held or does not. */
export async function holdProblem(
  { holdArgoApp }: HoldArgoAppStep,
  { api, clock }: Pick<LookContext, "api" | "clock">,
): Promise<string | undefined> {
  const { namespace, application: name, project, projectNamespace } = holdArgoApp;
  const label = `Application ${namespace}/${name}`;
  const { application, project: live } = await readHold(holdArgoApp, api);
  if (application === undefined) return `${label} is gone, so it is unknown what syncs its objects`;
  if (application.project !== project)
    return `${label} is now in another project, so the hold in ${project} does not apply to it`;
  if (revertState(application, live, clock.wallMs()) !== "Armed") return undefined;
  const why = live === undefined ? `there is no AppProject ${projectNamespace}/${project}` : "no open window denies it";
  return `Argo CD may sync ${label} by itself: ${why}`;
}

interface LiveHold {
  readonly application: ApplicationFacts | undefined;
  readonly project: ProjectFacts | undefined;
}

export async function readHold(hold: HoldArgoAppStep["holdArgoApp"], api: KubeApi): Promise<LiveHold> {
  const { namespace, application, project, projectNamespace } = hold;
  return {
    application: projectApplication(await readObject(api, argoPath(namespace, "applications", application))),
    project: projectAppProject(await readObject(api, argoPath(projectNamespace, "appprojects", project))),
  };
}

function argoPath(namespace: string, resource: string, name: string): string {
  return `/apis/argoproj.io/v1alpha1/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
}

/** A hold that was not seen yet blocks only its own step. */
function isSeen({ id }: HoldArgoAppStep, { decision }: LookContext): boolean {
  return decision.status?.steps?.find((one) => one.id === id)?.phase === "Done";
}

/** Every change of the plan is in git. */
function isLocked({ decision: { spec, status } }: LookContext): boolean {
  const locks = spec.steps.filter(({ action }) => action === "LockToGit");
  const isDone = (id: number): boolean => status?.steps?.find((one) => one.id === id)?.phase === "Done";
  return locks.length > 0 && locks.every(({ id }) => isDone(id));
}

/** Why a raised limit no longer has the plan's value. */
export async function limitsProblem({
  api,
  decision,
}: Pick<LookContext, "api" | "decision">): Promise<string | undefined> {
  const changes = decision.spec.steps.filter((step): step is SetMemoryLimitStep => step.action === "SetMemoryLimit");
  for (const change of changes) {
    const problem = limitProblem(change, await readObject(api, daemonSetPath(change)));
    if (problem !== undefined) return problem;
  }
  return undefined;
}
