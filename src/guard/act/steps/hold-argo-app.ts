import { windowLine } from "../../decide/hold-step.ts";
import type { HoldArgoAppStep } from "../../decision/step.ts";
import { holdProblem, readHold } from "./hold-seen.ts";
import type { StepRunner } from "../step-runner.ts";

/**
 * Waits until a person has created the hold. The guard has no right to create it: it shows the line for the project as it
 * is now and looks for the effect.
 */
export const holdArgoAppRunner: StepRunner<HoldArgoAppStep> = {
  async precondition({ holdArgoApp }, { api }) {
    const { namespace, application: name, project } = holdArgoApp;
    const { application } = await readHold(holdArgoApp, api);
    if (application === undefined)
      return `Application ${namespace}/${name} is gone: find out what syncs its objects now`;
    if (application.project === project) return undefined;
    return `Application ${namespace}/${name} is no longer in project ${project}: the hold would not apply to it`;
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
    return { message: `The hold of ${namespace}/${name} is in force`, lines: [line] };
  },

  async check(step, context) {
    const problem = await holdProblem(step, context);
    return problem === undefined ? undefined : `${problem}; a person has to type this step's line`;
  },
};
