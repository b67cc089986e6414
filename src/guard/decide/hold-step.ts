import type { ArgoOwner } from "./argo-owners.ts";
import { kubectl } from "./kubectl-lines.ts";
import type { StepDraft } from "./step-draft.ts";
import { revertState } from "./sync-window.ts";

/** A person has to type the line; the plan waits, and pauses after that. */
const waitSeconds = 1_800;

/**
 * Waits until Argo CD cannot take the next steps back. During the outage it does not, as it can compare with nothing; the
 * recovery is what arms it. The guard has no right to make the hold: it shows the line and looks for the effect.
 */
export function holdStep(owner: ArgoOwner): StepDraft {
  const { application, projectNamespace } = owner;
  const { namespace, name, project } = application;
  return ({ id }) => ({
    id,
    action: "HoldArgoApp",
    title: `Wait until Argo CD cannot sync ${name} by itself: a person holds it with the first line`,
    kubectl: [
      windowLine({ name, projectNamespace, project, hasWindows: (owner.project?.syncWindows.length ?? 0) > 0 }),
      kubectl("-n", projectNamespace, "get", "appproject", project, "-o", "jsonpath={.spec.syncWindows}"),
    ],
    preconditions: [],
    check: { what: `A window denies automatic syncs of ${name}, or they are off`, deadlineSeconds: waitSeconds },
    holdArgoApp: { namespace, application: name, projectNamespace, project, waitSeconds },
  });
}

/** Whether a hold is in force at the proposal, for the person who is asked. It is looked at again before the step. */
export function holdNote({ application, project }: ArgoOwner, nowMs: number): string {
  const { name } = application;
  switch (revertState(application, project, nowMs)) {
    case "Off":
      return `Argo CD does not sync ${name} by itself, so it takes nothing back`;
    case "Held":
      return `Argo CD's syncs of ${name} are held now; end the hold once git has the new value`;
    case "Armed":
      return `Argo CD takes the new limit back as soon as it can compare ${name} again: hold it with the line of the first step, and end the hold once git has the new value`;
  }
}

/** A project is an object of its own, so anything else in its place is no project: it could be read as an option. */
export function isProjectName(text: string): boolean {
  return text.length <= 253 && subdomain.test(text);
}

const subdomain = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

interface HoldPlace {
  /** Of the Application. */
  readonly name: string;
  readonly projectNamespace: string;
  readonly project: string;
  /** The project has windows already: a patch cannot add to a list that is not there. */
  readonly hasWindows: boolean;
}

/** It is always open, and so has to be taken away once git has the new value. Syncs by hand stay possible. */
export function windowLine({ name, projectNamespace, project, hasWindows }: HoldPlace): string {
  const window = { kind: "deny", schedule: "* * * * *", duration: "1h", applications: [name], manualSync: true };
  const patch = hasWindows
    ? [{ op: "add", path: "/spec/syncWindows/-", value: window }]
    : [{ op: "add", path: "/spec/syncWindows", value: [window] }];
  return kubectl("-n", projectNamespace, "patch", "appproject", project, "--type=json", "-p", JSON.stringify(patch));
}
