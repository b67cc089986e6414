import { objectOf, textOf, type JsonObject } from "../../../kube/client/json-fields.ts";
import type { ScalableKind, ScaleOwner } from "../../decision/scale-owner.ts";
import { countOf, objectsOf } from "../../json-values.ts";
import type { PatchOperation } from "./workload-patch.ts";

type ScalePatch =
  | { readonly patch: readonly PatchOperation[] }
  /** It already is as the plan wants it, or smaller. */
  | { readonly isDone: true }
  | { readonly problem: string };

const fields = {
  Deployment: "replicas",
  ReplicaSet: "replicas",
  Job: "parallelism",
  CronJob: "suspend",
} as const satisfies Record<ScalableKind, string>;

const scaleResources = {
  Deployment: "apps/v1 deployments",
  ReplicaSet: "apps/v1 replicasets",
  Job: "batch/v1 jobs",
  CronJob: "batch/v1 cronjobs",
} as const satisfies Record<ScalableKind, string>;

export function scalePath(kind: ScalableKind, namespace: string, name: string): string {
  const [group = "", resource = ""] = scaleResources[kind].split(" ");
  return `/apis/${group}/namespaces/${encodeURIComponent(namespace)}/${resource}/${encodeURIComponent(name)}`;
}

/**
 * The patch that makes an owner as just read smaller, or suspends it. It tests the UID and the value as read, so the API
 * server refuses it when either has changed since. A number that is neither the old nor the new one was set by somebody
 * else, who knows something that the plan does not.
 */
export function scalePatch(change: ScaleOwner, live: unknown): ScalePatch {
  const { kind, namespace, name, uid } = change;
  const label = `${kind} ${namespace}/${name}`;
  if (live === undefined) return { problem: `${label} is gone` };
  const metadata = objectOf(objectOf(live)["metadata"]);
  if (textOf(metadata["uid"]) !== uid) return { problem: `${label} was replaced: its UID is no longer ${uid}` };
  if (change.way === "Suspend") return suspendPatch(uid, live);
  const now = sizeOf(kind, live);
  if (now <= change.to) return { isDone: true };
  if (now !== change.from)
    return { problem: `${label} is now ${now} in size, not ${change.from}: another client changed it` };
  const path = `/spec/${fields[kind]}`;
  return {
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path, value: now },
      { op: "replace", path, value: change.to },
    ],
  };
}

/** For a Job or a CronJob. An absent field is false, and a patch cannot test that, so it tests the generation. */
export function suspendPatch(uid: string, live: unknown): ScalePatch {
  if (objectOf(objectOf(live)["spec"])["suspend"] === true) return { isDone: true };
  const metadata = objectOf(objectOf(live)["metadata"]);
  return {
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: "/metadata/generation", value: countOf(metadata["generation"]) },
      { op: "add", path: "/spec/suspend", value: true },
    ],
  };
}

/** What is missing until the controller has carried out the change. */
export function scaleMissing(change: ScaleOwner, live: unknown): string | undefined {
  const { kind, namespace, name } = change;
  const label = `${kind} ${namespace}/${name}`;
  const found = scalePatch(change, live);
  if ("problem" in found) return found.problem;
  if ("patch" in found) return `${label} is no longer as the plan has set it: something puts it back`;
  const status = objectOf(objectOf(live)["status"]);
  if (change.way === "Suspend") return kind === "Job" ? suspendedMissing(status, label) : undefined;
  const count = countOf(status[kind === "Job" ? "active" : "replicas"]);
  return count <= change.to ? undefined : `${label} still has ${count} pods`;
}

/** A Job's controller says that it has suspended it when it has asked all pods to go. */
function suspendedMissing(status: JsonObject, label: string): string | undefined {
  const isOver = objectsOf(status["conditions"]).some(
    (one) => ["Suspended", "Complete", "Failed"].includes(textOf(one["type"])) && one["status"] === "True",
  );
  return isOver ? undefined : `the controller of ${label} has not suspended it yet`;
}

function sizeOf(kind: ScalableKind, live: unknown): number {
  const value = objectOf(objectOf(live)["spec"])[fields[kind]];
  // Kubernetes' default.
  return value === undefined ? 1 : countOf(value);
}
