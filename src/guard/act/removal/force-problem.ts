import { objectOf, textOf } from "../../../kube/client/json-fields.ts";
import { objectsOf } from "../../json-values.ts";

/**
 * Why a hanging pod must not be removed by force; undefined when it may. Both objects are as just read; `node` is
 * undefined when it does not exist. A silent kubelet may have started the pod without reporting it; a node that is gone
 * runs nothing.
 */
export function forceProblem(pod: unknown, node: unknown): string | undefined {
  const finalizers = objectOf(objectOf(pod)["metadata"])["finalizers"];
  if (Array.isArray(finalizers) && finalizers.length > 0) return "it waits for its finalizers";
  if (node === undefined) return undefined;
  const conditions = objectsOf(objectOf(objectOf(node)["status"])["conditions"]);
  const ready = conditions.find(({ type }) => type === "Ready");
  const says = textOf(ready?.["status"]);
  return says === "True" || says === "False" ? undefined : "its node does not answer, so it may be running";
}
