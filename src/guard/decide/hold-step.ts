import type { ArgoOwner } from "./argo-owners.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";
import { revertState } from "./sync-window.ts";

/** A person has to type the line; after this time the plan pauses. */
const waitSeconds = 1_800;

/**
 * Waits until Argo CD cannot revert the next steps. During the outage it cannot compare anything, so the recovery itself
 * enables the revert. The guard has no right to create the hold: it shows the line and looks for the effect.
 */
export function holdStep(owner: ArgoOwner): StepDraft {
  const { application, projectNamespace } = owner;
  const { namespace, name, project } = application;
  return ({ id }) => ({
    id,
    action: "HoldArgoApp",
    title: `Wait until Argo CD cannot sync ${name} by itself: a person creates the hold with the first line`,
    kubectl: [
      windowLine({ name, projectNamespace, project, hasWindows: (owner.project?.syncWindows.length ?? 0) > 0 }),
      kubectl("-n", projectNamespace, "get", "appproject", project, "-o", "jsonpath={.spec.syncWindows}"),
    ],
    preconditions: [],
    check: { what: `A window denies automatic syncs of ${name}, or they are off`, deadlineSeconds: waitSeconds },
    holdArgoApp: { namespace, application: name, projectNamespace, project, waitSeconds },
  });
}

/** Whether a hold is in force at the time of the proposal. The step checks it again. */
export function holdNote({ application, project }: ArgoOwner, nowMs: number): string {
  const { name } = application;
  switch (revertState(application, project, nowMs)) {
    case "Off":
      return `Argo CD does not sync ${name} by itself, so it reverts nothing`;
    case "Held":
      return `Argo CD's syncs of ${name} are held now; end the hold once git has the new value`;
    case "Armed":
      return `Argo CD reverts the new limit as soon as it can compare ${name} again: hold it with the line of the first step, and end the hold once git has the new value`;
  }
}

/** A project is an object with a valid name. Any other text could be read as an option of kubectl. */
export function isProjectName(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

interface HoldPlace {
  /** The Application's name. */
  readonly name: string;
  readonly projectNamespace: string;
  readonly project: string;
  /** A JSON patch cannot append to a list that does not exist. */
  readonly hasWindows: boolean;
}

/** The window is always open, so a person removes it once git has the new value. Manual syncs stay possible. */
export function windowLine({ name, projectNamespace, project, hasWindows }: HoldPlace): string {
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: [name], manualSync: true };
  const patch = hasWindows
    ? [{ op: "add", path: "/spec/syncWindows/-", value: window }]
    : [{ op: "add", path: "/spec/syncWindows", value: [window] }];
  return kubectl("-n", projectNamespace, "patch", "appproject", project, "--type=json", "-p", JSON.stringify(patch));
}
