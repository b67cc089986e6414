import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { countOf, objectsOf } from "../../json-values.ts";
import { memoryFields } from "./memory-patch.ts";

export function daemonSetPath({ setMemoryLimit }: SetMemoryLimitStep): string {
  return workloadPath("daemonsets", setMemoryLimit);
}

export function workloadPath(
  resource: "daemonsets" | "deployments" | "statefulsets",
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
}

/** Why a DaemonSet as just read is not the step's DaemonSet with its new memory. */
export function limitProblem({ setMemoryLimit }: SetMemoryLimitStep, live: unknown): string | undefined {
  const { namespace, name, uid, container } = setMemoryLimit;
  const label = `DaemonSet ${namespace}/${name}`;
  if (live === undefined) return `${label} is gone`;
  if (textOf(metadataOf(live)["uid"]) !== uid) return `${label} was replaced: its UID is no longer ${uid}`;
  const template = objectOf(objectOf(objectOf(live)["spec"])["template"]);
  const found = objectsOf(objectOf(template["spec"])["containers"]).find((one) => one["name"] === container);
  const other = memoryFields(setMemoryLimit, found?.["resources"]).find(({ now, to }) => now !== to);
  return other === undefined
    ? undefined
    : `the memory ${other.what} of ${container} in ${label} is now ${other.now || "not set"}, not ${other.to}`;
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
