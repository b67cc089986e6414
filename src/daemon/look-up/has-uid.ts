import type { PodUid } from "../../base/brand.ts";
import type { PodFacts } from "../../view/view.ts";

/** A static pod's mirror on the API server has another UID than the one kubelet made up for it. */
export function hasUid(pod: PodFacts, uid: PodUid | undefined): boolean {
  return uid === undefined || pod.uid === "" || pod.uid === uid || pod.isStatic;
}
