import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { objectsOf } from "../../facts/json-values.ts";

/**
 * Why a pod that hangs is not removed by force; undefined when it may be. `pod` and `node` as they were read just now,
 * `node` undefined when there is none of the name. A kubelet that has not spoken for a while may have started the pod and
 * not said so; one that is gone has not.
 */
export function forceProblem(pod: unknown, node: unknown): string | undefined {
  const finalizers = objectOf(objectOf(pod)["metadata"])["finalizers"];
  if (Array.isArray(finalizers) && finalizers.length > 0) return "it waits for its finalizers";
  if (node === undefined) return undefined;
  const conditions = objectsOf(objectOf(objectOf(node)["status"])["conditions"]);
  const ready = conditions.find(({ type }) => type === "Ready");
  const says = textOf(ready?.["status"]);
  return says === "True" || says === "False" ? undefined : "its node does not answer, so nobody knows whether it runs";
}
