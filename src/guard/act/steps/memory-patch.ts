import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import type { SetMemoryLimitStep } from "../../decision/step.ts";
import { markKey, printMark, standingMark } from "../../facts/memory-mark.ts";
import { objectsOf } from "../../json-values.ts";
import type { PatchOperation } from "./workload-patch.ts";

/** What the patch writes beside the values. */
interface MarkFacts {
  /** When the Decision began. */
  readonly at: string;
  /** The highest use that was seen, for a lowering; empty for a raise. */
  readonly seen: string;
}

export type MemoryPatch =
  | { readonly patch: readonly PatchOperation[] }
  | { readonly isDone: true }
  | { readonly problem: string };

/**
 * The patch that changes the memory of a DaemonSet as just read. It tests the UID, the container's name and the old values,
 * so that the API server refuses it when one of them has changed, and writes down what was before (`memory-mark.ts`).
 * `isDone` when the new values are already set.
 */
export function memoryPatch({ setMemoryLimit }: SetMemoryLimitStep, live: unknown, facts: MarkFacts): MemoryPatch {
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
      markOperation(setMemoryLimit, metadata["annotations"], {
        ...facts,
        request: memoryOf(containers[index]?.["resources"], "requests"),
      }),
    ],
  };
}

/** Several raises in a row keep what was before the first, unless a person changed the value in between. */
function markOperation(
  change: SetMemoryLimitStep["setMemoryLimit"],
  annotations: unknown,
  { at, seen, request }: MarkFacts & { readonly request: string },
): PatchOperation {
  const { uid, container, oldLimit, newLimit, oldRequest, newRequest } = change;
  const earlier = standingMark(annotations, { uid, container, limit: oldLimit, request });
  const value = printMark({
    uid,
    beforeLimit: earlier?.beforeLimit ?? oldLimit,
    beforeRequest: earlier?.beforeRequest ?? request,
    limit: newLimit,
    // A request that the plan leaves alone may have changed since.
    request: oldRequest === newRequest ? request : newRequest,
    at,
    seen,
  });
  const place = "/metadata/annotations";
  const key = markKey(container);
  return annotations === undefined
    ? { op: "add", path: place, value: { [key]: value } }
    : { op: "add", path: `${place}/${key.replace("/", "~1")}`, value };
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
  const now = (list: "limits" | "requests"): string => memoryOf(resources, list);
  const limit = { what: "limit", list: "limits", now: now("limits"), from: oldLimit, to: newLimit } as const;
  if (oldRequest === newRequest) return [limit];
  return [limit, { what: "request", list: "requests", now: now("requests"), from: oldRequest, to: newRequest }];
}

function memoryOf(resources: unknown, list: "limits" | "requests"): string {
  return textOf(objectOf(objectOf(resources)[list])["memory"]);
}
