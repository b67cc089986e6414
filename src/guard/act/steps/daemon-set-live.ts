import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { countOf, objectsOf } from "../../json-values.ts";

export function daemonSetPath({ setMemoryLimit }: SetMemoryLimitStep): string {
  return workloadPath("daemonsets", setMemoryLimit);
}

export function workloadPath(
  resource: "daemonsets" | "deployments",
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
}

/** Why a DaemonSet as just read is not the step's DaemonSet with its new limit. */
export function limitProblem({ setMemoryLimit }: SetMemoryLimitStep, live: unknown): string | undefined {
  const { namespace, name, uid, container, newLimit } = setMemoryLimit;
  const label = `DaemonSet ${namespace}/${name}`;
  if (live === undefined) return `${label} is gone`;
  if (textOf(metadataOf(live)["uid"]) !== uid) return `${label} was replaced: its UID is no longer ${uid}`;
  const limit = memoryLimitOf(live, container);
  return limit === newLimit
    ? undefined
    : `the memory limit of ${container} in ${label} is now ${limit || "not set"}, not ${newLimit}`;
}

/** As written; empty without a limit or such a container. */
function memoryLimitOf(live: unknown, container: string): string {
  const template = objectOf(objectOf(objectOf(live)["spec"])["template"]);
  const found = objectsOf(objectOf(template["spec"])["containers"]).find((one) => one["name"] === container);
  return textOf(objectOf(objectOf(found?.["resources"])["limits"])["memory"]);
}

/** What is missing until every pod is of the newest revision and ready. */
export function rolloutMissing(live: unknown): string | undefined {
  const status = objectOf(objectOf(live)["status"]);
  if (countOf(status["observedGeneration"]) < countOf(metadataOf(live)["generation"]))
    return "its controller has not yet seen the newest change";
  const desired = countOf(status["desiredNumberScheduled"]);
  const updated = countOf(status["updatedNumberScheduled"]);
  const ready = countOf(status["numberReady"]);
  if (updated < desired) return `${updated} of ${desired} pods have the newest revision`;
  return ready < desired ? `${ready} of ${desired} pods are ready` : undefined;
}

export function updatesOnDelete(live: unknown): boolean {
  return objectOf(objectOf(objectOf(live)["spec"])["updateStrategy"])["type"] === "OnDelete";
}

function metadataOf(live: unknown): JsonObject {
  return objectOf(objectOf(live)["metadata"]);
}
