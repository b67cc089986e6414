import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { objectsOf } from "../../json-values.ts";

/** One operation of a JSON patch (RFC 6902). */
export interface PatchOperation {
  readonly op: "test" | "replace" | "add";
  readonly path: string;
  readonly value: string | number | boolean | Readonly<Record<string, string>>;
}

/**
 * The patch that changes the memory of a DaemonSet as just read. It tests the UID, the container's name and the old values,
 * so that the API server refuses it when one of them has changed. `isDone` when the new values are already set.
 */
export function memoryPatch(
  { setMemoryLimit }: SetMemoryLimitStep,
  live: unknown,
): { readonly patch: readonly PatchOperation[] } | { readonly isDone: true } | { readonly problem: string } {
  const { namespace, name, uid, container } = setMemoryLimit;
  const label = `DaemonSet ${namespace}/${name}`;
  if (live === undefined) return { problem: `${label} is gone` };
  const metadata = objectOf(objectOf(live)["metadata"]);
  if (textOf(metadata["uid"]) !== uid) return { problem: `${label} was replaced: its UID is no longer ${uid}` };
  const template = objectOf(objectOf(objectOf(live)["spec"])["template"]);
  const containers = objectsOf(objectOf(template["spec"])["containers"]);
  const index = containers.findIndex((one) => one["name"] === container);
  if (index === -1) return { problem: `${label} has no container ${container}` };
  const changes = memoryFields(setMemoryLimit, containers[index]?.["resources"]);
  if (changes.every(({ now, to }) => now === to)) return { isDone: true };
  const other = changes.find(({ now, from }) => now !== from);
  if (other !== undefined)
    return {
      problem: `the memory ${other.what} of ${container} in ${label} is ${other.now || "not set"}, not ${other.from}`,
    };
  const place = `/spec/template/spec/containers/${index}`;
  const memory = (list: string): string => `${place}/resources/${list}/memory`;
  return {
    patch: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: `${place}/name`, value: container },
      ...changes.map(({ list, from }) => ({ op: "test", path: memory(list), value: from }) as const),
      ...changes.map(({ list, to }) => ({ op: "replace", path: memory(list), value: to }) as const),
    ],
  };
}

interface MemoryField {
  readonly what: "limit" | "request";
  readonly list: "limits" | "requests";
  readonly now: string;
  readonly from: string;
  readonly to: string;
}

/** The fields that the plan changes: the limit, and the request where it says so. Values as written; empty when absent. */
export function memoryFields(
  { oldLimit, newLimit, oldRequest, newRequest }: SetMemoryLimitStep["setMemoryLimit"],
  resources: unknown,
): readonly MemoryField[] {
  const now = (list: "limits" | "requests"): string => textOf(objectOf(objectOf(resources)[list])["memory"]);
  const limit = { what: "limit", list: "limits", now: now("limits"), from: oldLimit, to: newLimit } as const;
  if (oldRequest === newRequest) return [limit];
  return [limit, { what: "request", list: "requests", now: now("requests"), from: oldRequest, to: newRequest }];
}
