import { SharedTexts } from "../../../base/shared-texts.ts";
import type { PodTarget } from "../../decision/step.ts";
import type { ClusterPod } from "../../facts/cluster-pod.ts";
import { projectClusterPod } from "../../facts/project-cluster-pod.ts";

/**
 * What is to be done about a target, as it is now. `Remove`: still the pod that was frozen, ownerless, and it never ran.
 * `Leaving`: it has been asked to go. `Gone`: there is nothing to do. The others are left alone and reported.
 */
export type TargetVerdict = "Remove" | "Leaving" | "Gone" | "Replaced" | "Started" | "Owned" | "Mirror" | "Exempt";

/** `live` is the pod as it was read just now, or undefined when the server has none of the name. */
export function classifyTarget(target: PodTarget, live: unknown): TargetVerdict {
  if (live === undefined) return "Gone";
  const pod = projectClusterPod(live, new SharedTexts());
  // What cannot be read is not what was frozen.
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
