import { SharedTexts } from "../../../base/shared-texts.ts";
import type { PodTarget } from "../../decision/step.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { projectClusterPod } from "../../facts/project-cluster-pod.ts";

/**
 * What to do about a target now. `Remove`: it is still the pod of the plan, has no owner and never ran. `Leaving`: it is
 * being deleted. `Gone`: there is nothing to do. Pods with another verdict are left alone and listed in the status.
 */
export type TargetVerdict = "Remove" | "Leaving" | "Gone" | "Replaced" | "Started" | "Owned" | "Mirror" | "Exempt";

/** `live` is the pod as just read; undefined when there is none of this name. */
export function classifyTarget(target: PodTarget, live: unknown): TargetVerdict {
  if (live === undefined) return "Gone";
  const pod = projectClusterPod(live, new SharedTexts());
  // An unreadable pod is not the pod of the plan.
  if (pod === undefined || !isSame(pod, target)) return "Replaced";
  if (pod.isMirror) return "Mirror";
  if (pod.owner !== "") return "Owned";
  if (pod.everRan || pod.phase !== "Pending") return "Started";
  if (pod.isExempt) return "Exempt";
  return pod.isDeleting ? "Leaving" : "Remove";
}

function isSame(pod: ClusterPod, { namespace, name, uid }: PodTarget): boolean {
  return pod.uid === uid && pod.name === name && pod.namespace === namespace;
}
