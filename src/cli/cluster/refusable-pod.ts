import { exemptAnnotation } from "../../guard/facts/project-cluster-pod.ts";
import { objectsOf } from "../../guard/json-values.ts";
import { objectOf, textOf } from "../../kube/client/json-fields.ts";

/**
 * Whether the rule of `deploy/policies/ownerless-pods.yaml` refuses such a pod: it has no controlling owner and no reason
 * annotation. The policy also checks the creator, which a pod does not show; only mirror pods are known to be a kubelet's.
 */
export function isRefusable(pod: unknown): boolean {
  const metadata = objectOf(objectOf(pod)["metadata"]);
  const annotations = objectOf(metadata["annotations"]);
  const isControlled = objectsOf(metadata["ownerReferences"]).some(
    (owner) => owner["controller"] === true && textOf(owner["uid"]) !== "",
  );
  const isMirror = annotations["kubernetes.io/config.mirror"] !== undefined;
  return !isControlled && !isMirror && textOf(annotations[exemptAnnotation]) === "";
}
