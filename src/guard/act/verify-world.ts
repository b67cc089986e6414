import { shapeText } from "../decide/shape-text.ts";
import type { Decision } from "../decision/decision.ts";
import type { VerifyCheck } from "../decision/step.ts";
import { isOwnerless } from "../facts/pod-record.ts";
import type { World } from "../facts/world.ts";

/** Why a check does not hold in the newest world; undefined when it does, or when only the server can tell. */
export function worldProblem(check: VerifyCheck, world: World, decision: Decision): string | undefined {
  switch (check.check) {
    case "BacklogGone":
      return backlog(check, world, decision);
    case "DaemonSetReady": {
      const found = world.daemonSets.find(isNamed(check));
      return found === undefined || found.ready < found.desired
        ? readyText(check, found?.ready, found?.desired)
        : undefined;
    }
    case "DeploymentAvailable": {
      const found = world.deployments.find(isNamed(check));
      return found === undefined || found.available < found.desired
        ? readyText(check, found?.available, found?.desired)
        : undefined;
    }
    case "EndpointsReady": {
      const found = world.services.find(isNamed(check));
      if (found === undefined) return `${check.namespace}/${check.name}: there is no such Service with a selector`;
      return found.readyEndpoints === 0 ? `${check.namespace}/${check.name}: no endpoint is ready` : undefined;
    }
    case "ApplicationsKnown":
      return applications(check.unknownMax, world);
  }
}

/** `3 of 5 ready`; nothing there reads as such. */
export function readyText(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ready = 0,
  desired?: number,
): string {
  return `${namespace}/${name}: ${desired === undefined ? "it is gone" : `${ready} of ${desired} are ready`}`;
}

function isNamed(check: { readonly namespace: string; readonly name: string }) {
  return ({ namespace, name }: { readonly namespace: string; readonly name: string }): boolean =>
    namespace === check.namespace && name === check.name;
}

/** Every bound and Pending pod of the make, not only those that have waited for long. */
function backlog(
  { namespace, podsMax }: { readonly namespace: string; readonly podsMax: number },
  { pods }: World,
  { spec }: Decision,
): string | undefined {
  let found = 0;
  for (const pod of pods) {
    if (pod.namespace !== namespace || pod.phase !== "Pending" || pod.boundMs === 0) continue;
    if (isOwnerless(pod) && shapeText(pod.shape) === spec.subject.shape) found += 1;
  }
  return found > podsMax ? `${namespace}: ${found} pods of the make wait, more than ${podsMax}` : undefined;
}

/** With none in sight nothing is known of any. */
function applications(unknownMax: number, world: World): string | undefined {
  const { length } = world.applications;
  if (length === 0) return "no Application of Argo CD is seen";
  const unknown = world.applications.filter(({ sync }) => sync === "Unknown").length;
  return unknown > unknownMax ? `${unknown} of ${length} Applications are Unknown, more than ${unknownMax}` : undefined;
}
