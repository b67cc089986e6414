import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { metadataOnly, type KubeRequest } from "../client/api.ts";

export interface PatchedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  /** Only the pod with this UID is patched; undefined patches any pod of that name. */
  readonly uid: PodUid | undefined;
}

/** Long enough for a slow server. Only the outbox waits for it. */
const deadlineMs = 10_000;

/**
 * Sets annotations of a pod through its status subresource, as Multus does. A patch changes nothing else. Its UID keeps
 * a later pod of the same name from getting the annotation of its predecessor.
 */
export function statusPatch(pod: PatchedPod, annotations: Readonly<Record<string, string>>): KubeRequest {
  const { namespace, name, uid } = pod;
  return {
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
    contentType: "application/merge-patch+json",
    // The returned pod is not used.
    accept: metadataOnly,
    body: JSON.stringify({ metadata: { ...(uid === undefined ? {} : { uid }), annotations } }),
    deadlineMs,
  };
}
