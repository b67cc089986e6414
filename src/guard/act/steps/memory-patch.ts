import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { objectsOf } from "../../json-values.ts";

/** One operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: "test" | "replace";
  readonly path: string;
  readonly value: string;
}

/**
 * The patch that raises a limit of a DaemonSet as just read. It tests the UID, the container's name and the old value, so
 * that the API server refuses it when one of them has changed. `isDone` when the limit is already set.
 */
export function memoryPatch(
  { setMemoryLimit }: SetMemoryLimitStep,
  live: unknown,
): { readonly patch: readonly PatchOperation[] } | { readonly isDone: true } | { readonly problem: string } {
  const { namespace, name, uid, container, oldLimit, newLimit } = setMemoryLimit;
  const label = `DaemonSet ${namespace}/${name}`;
  if (live === undefined) return { problem: `${label} is gone` };
  const metadata = objectOf(objectOf(live)["metadata"]);
  if (textOf(metadata["uid"]) !== uid) return { problem: `${label} was replaced: its UID is no longer ${uid}` };
  const template = objectOf(objectOf(objectOf(live)["spec"])["template"]);
  const containers = objectsOf(objectOf(template["spec"])["containers"]);
  const index = containers.findIndex((one) => one["name"] === container);
  if (index === -1) return { problem: `${label} has no container ${container}` };
  const limit = textOf(objectOf(objectOf(containers[index]?.["resources"])["limits"])["memory"]);
  if (limit === newLimit) return { isDone: true };
  if (limit !== oldLimit)
    return { problem: `the memory limit of ${container} in ${label} is ${limit || "not set"}, not ${oldLimit}` };
  const place = `/spec/template/spec/containers/${index}`;
  return {
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: `${place}/name`, value: container },
      { op: "test", path: `${place}/resources/limits/memory`, value: oldLimit },
      { op: "replace", path: `${place}/resources/limits/memory`, value: newLimit },
    ],
  };
}
