import { shapeText } from "../../decide/shape-text.ts";
import type { Decision } from "../../decision/decision.ts";
import type { VerifyCheck } from "../../decision/step.ts";
import { isOfOwner } from "../../detect/runaway.ts";
import { isOwnerless, type ClusterPod } from "../../facts/cluster-pod.ts";
import type { GuardSettings } from "../../facts/guard-settings.ts";
import type { ServiceFacts, World } from "../../facts/world.ts";
import { enoughProblem } from "./lower-problem.ts";

/** Why a check does not hold in the newest world; undefined when it does, or when only the API server knows. */
export function worldProblem(
  check: VerifyCheck,
  world: World,
  decision: Decision,
  settings: GuardSettings,
): string | undefined {
  switch (check.check) {
    case "BacklogGone":
      return backlog(check, world, decision);
    case "DaemonSetReady":
      return daemonSet(check, world);
    case "DeploymentAvailable":
      return deployment(check, world);
    case "MemoryEnough":
      return enoughProblem(check, world, decision, settings);
    // These are asked elsewhere.
    case "StatefulSetReady":
    case "UrlAnswers":
    case "ProbesSucceed":
      return undefined;
    case "EndpointsReady":
      return endpoints(check, world.services.find(isNamed(check)));
    case "ApplicationsKnown":
      return applications(check.unknownMax, world);
  }
}

function daemonSet(place: Place, { daemonSets }: World): string | undefined {
  const found = daemonSets.find(isNamed(place));
  return shortOf(place, found?.ready, found?.desired);
}

function deployment(place: Place, { deployments }: World): string | undefined {
  const found = deployments.find(isNamed(place));
  return shortOf(place, found?.available, found?.desired);
}

export type BacklogGone = Extract<VerifyCheck, { readonly check: "BacklogGone" }>;

interface Place {
  readonly namespace: string;
  readonly name: string;
}

export const goneText = "it is gone";

/** What a workload lacks; without a desired number it is gone. */
export function shortOf({ namespace, name }: Place, ready = 0, desired?: number): string | undefined {
  if (desired === undefined) return `${namespace}/${name}: ${goneText}`;
  return ready < desired ? `${namespace}/${name}: ${ready} of ${desired} are ready` : undefined;
}

function endpoints({ namespace, name }: Place, found: ServiceFacts | undefined): string | undefined {
  if (found === undefined) return `${namespace}/${name}: there is no such Service with a selector`;
  return found.readyEndpoints === 0 ? `${namespace}/${name}: no endpoint is ready` : undefined;
}

function isNamed(check: Place) {
  return ({ namespace, name }: Place): boolean => namespace === check.namespace && name === check.name;
}

function backlog(check: BacklogGone, world: World, decision: Decision): string | undefined {
  if (decision.spec.cause === "RunawayWorkload" && world.owners === undefined)
    return "the guard cannot read whose the pods are now";
  let found = 0;
  for (const pod of world.pods) if (isOfBacklog(pod, check, decision, world)) found += 1;
  return backlogText(check, found);
}

/** Every bound and Pending pod of the shape or the owner, however long it has waited. */
export function isOfBacklog(pod: ClusterPod, { namespace }: BacklogGone, { spec }: Decision, world: World): boolean {
  if (pod.namespace !== namespace || pod.phase !== "Pending" || pod.boundMs === 0) return false;
  if (spec.cause === "RunawayWorkload")
    return !pod.isDeleting && !pod.everRan && isOfOwner(pod, spec.subject.shape, world);
  return isOwnerless(pod) && shapeText(pod.shape) === spec.subject.shape;
}

export function backlogText({ namespace, podsMax }: BacklogGone, found: number): string | undefined {
  return found > podsMax ? `${namespace}: ${found} pods of the template wait, more than ${podsMax}` : undefined;
}

/** Without any Application nothing is known. One that is not reconciled keeps its old status and does not count. */
function applications(unknownMax: number, world: World): string | undefined {
  const { length } = world.applications;
  if (length === 0) return "no Argo CD Application is visible";
  const unknown = world.applications.filter(({ sync, skipsReconcile }) => sync === "Unknown" && !skipsReconcile).length;
  return unknown > unknownMax ? `${unknown} of ${length} Applications are Unknown, more than ${unknownMax}` : undefined;
}
