import type { KubeApi } from "../../kube/api.ts";
import { objectOf, textOf } from "../../kube/json-fields.ts";
import { stopLabel, stopQuota } from "../decide/stop-step.ts";
import type { World } from "../facts/world.ts";
import { readObject } from "./read-object.ts";

export function namespacePath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
}

export function quotaPath(namespace: string): string {
  return `${namespacePath(namespace)}/resourcequotas/${stopQuota}`;
}

/**
 * Why new pods without an owner would still be made in a namespace; undefined when they are refused: by the label where the
 * policy is installed as shipped, or by our quota once its controller has counted.
 */
export async function sourceProblem(api: KubeApi, namespace: string, world: World): Promise<string | undefined> {
  const live = await readObject(api, namespacePath(namespace));
  const labels = objectOf(objectOf(objectOf(live)["metadata"])["labels"]);
  const isLabelled = labels[stopLabel.key] === stopLabel.value;
  if (isLabelled && world.isOwnerPolicyInstalled) return undefined;
  const quota = await readObject(api, quotaPath(namespace));
  if (quotaInForce(quota) !== "") return undefined;
  if (isLabelled) return `${namespace} has the label ${stopLabel.key}, but the policy that reads it is not as shipped`;
  return `${namespace} does not refuse new pods without an owner: approve its stop first`;
}

/** The limit of pods that a quota holds; empty while no controller has counted, as it stops nothing until then. */
export function quotaInForce(quota: unknown): string {
  return textOf(objectOf(objectOf(objectOf(quota)["status"])["hard"])["pods"]);
}
