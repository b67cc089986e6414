import type { KubeApi } from "../../../kube/client/api.ts";
import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { stopLabel, stopQuota } from "../../decide/stop-step.ts";
import type { Decision } from "../../decision/decision.ts";
import type { World } from "../../facts/world.ts";
import { readObject } from "../read-object.ts";

export function namespacePath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
}

export function quotaPath(namespace: string): string {
  return `${namespacePath(namespace)}/resourcequotas/${stopQuota}`;
}

/**
 * Why a namespace would still accept new pods without an owner; undefined when it refuses them: by the label, if the
 * policy is installed as shipped, or by our quota once its controller has counted.
 */
export async function sourceProblem(api: KubeApi, namespace: string, world: World): Promise<string | undefined> {
  const live = await readObject(api, namespacePath(namespace));
  const labels = objectOf(objectOf(objectOf(live)["metadata"])["labels"]);
  const isLabelled = labels[stopLabel.key] === stopLabel.value;
  if (isLabelled && world.isOwnerPolicyInstalled) return undefined;
  const quota = await readObject(api, quotaPath(namespace));
  if (isStop(quota, namespace, world.decisions)) return undefined;
  const allowed = quotaInForce(quota);
  if (allowed !== "")
    return `the quota ${stopQuota} of ${namespace} allows ${allowed} pods and has room for more, and no Decision set it: it stops nothing`;
  if (isLabelled) return `${namespace} has the label ${stopLabel.key}, but the policy that reads it is not as shipped`;
  return `${namespace} does not refuse new pods without an owner: approve its stop first`;
}

/** A used-up quota refuses now; an approved one refuses as soon as the source replaces removed pods. */
function isStop(quota: unknown, namespace: string, decisions: readonly Decision[]): boolean {
  const hard = quotaInForce(quota);
  if (hard === "") return false;
  const used = objectOf(objectOf(objectOf(quota)["status"])["used"])["pods"];
  if (Number(textOf(used)) >= Number(hard)) return true;
  return decisions
    .filter(({ spec }) => spec.subject.namespace === namespace)
    .flatMap(({ spec }) => spec.steps)
    .flatMap((step) => (step.action === "StopSource" ? [step.stopSource] : []))
    .some((stop) => stop.way === "Quota" && String(stop.pods) === hard);
}

/** The pod limit of a quota; empty until its controller has counted, because it stops nothing before. */
export function quotaInForce(quota: unknown): string {
  return textOf(objectOf(objectOf(objectOf(quota)["status"])["hard"])["pods"]);
}
