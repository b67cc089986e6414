import { windowLine } from "../../decide/hold-step.ts";
import type { HoldArgoAppStep } from "../../decision/step.ts";
import { holdProblem, readHold } from "./hold-seen.ts";
import type { StepRunner } from "../step-runner.ts";

/**
 * Waits until a person has made the hold. The guard has no right to make it: it shows the line, made anew from the project
 * as it is now, and looks for the effect.
 */
export const holdArgoAppRunner: StepRunner<HoldArgoAppStep> = {
  async precondition({ holdArgoApp }, { api }) {
    const { namespace, application: name, project } = holdArgoApp;
    const { application } = await readHold(holdArgoApp, api);
    if (application === undefined)
      return `Application ${namespace}/${name} is gone: who syncs its objects has to be found anew`;
    if (application.project === project) return undefined;
    return `Application ${namespace}/${name} is in another project than ${project} by now: the hold would not reach it`;
  },

  async rehearse() {
    return undefined;
  },

  async perform(step, { api, clock }) {
    const { namespace, application: name, project, projectNamespace } = step.holdArgoApp;
    if ((await holdProblem(step, { api, clock })) === undefined)
      return { message: `Argo CD does not sync ${namespace}/${name} by itself` };
    const live = (await readHold(step.holdArgoApp, api)).project;
    const line = windowLine({ name, projectNamespace, project, hasWindows: (live?.syncWindows.length ?? 0) > 0 });
    return { message: `The hold of ${namespace}/${name} was seen`, lines: [line] };
  },

  async check(step, context) {
    const problem = await holdProblem(step, context);
    return problem === undefined ? undefined : `${problem}; a person types the line in this step's lines`;
  },
};
