import type { ApplicationFacts, ProjectFacts } from "../facts/world.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";

/** A person has to type the line; the plan waits, and pauses after that. */
const waitSeconds = 1_800;

/**
 * Waits until Argo CD cannot take the next steps back. During the outage it does not, as it can compare with nothing; the
 * recovery is what arms it. The guard has no right to make the hold: it shows the line and looks for the effect.
 */
export function holdStep(application: ApplicationFacts, project: ProjectFacts | undefined): StepDraft {
  const { namespace, name } = application;
  return ({ id }) => ({
    id,
    action: "HoldArgoApp",
    title: `Wait until Argo CD cannot sync ${name} by itself: a person holds it with the first line`,
    kubectl: [
      windowLine(application, project),
      kubectl("-n", namespace, "get", "appproject", application.project, "-o", "jsonpath={.spec.syncWindows}"),
    ],
    preconditions: [],
    check: { what: `A window denies automatic syncs of ${name}, or they are off`, deadlineSeconds: waitSeconds },
    holdArgoApp: { namespace, application: name, project: application.project, waitSeconds },
  });
}

/** It is always open, and so has to be taken away once git has the new value. Syncs by hand stay possible. */
function windowLine(
  { namespace, name, project: projectName }: ApplicationFacts,
  project: ProjectFacts | undefined,
): string {
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: [name], manualSync: true };
  const hasWindows = (project?.syncWindows.length ?? 0) > 0;
  const patch = hasWindows
    ? [{ op: "add", path: "/spec/syncWindows/-", value: window }]
    : [{ op: "add", path: "/spec/syncWindows", value: [window] }];
  return kubectl("-n", namespace, "patch", "appproject", projectName, "--type=json", "-p", JSON.stringify(patch));
}
