import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import { metadataOnly, type KubeRequest } from "../client/api.ts";

export interface PatchedPod {
  readonly namespace: Namespace;
  readonly name: PodName;
  /** Only the pod with this UID is meant; undefined takes whichever has the name. */
  readonly uid: PodUid | undefined;
}

/** Long enough for a slow server; nobody waits for it but the outbox. */
const deadlineMs = 10_000;

/**
 * Sets annotations of a pod through its status subresource, as Multus does. A patch changes nothing else, and the UID
 * in it keeps a pod of the same name that came later from getting its predecessor's annotation.
 */
export function statusPatch(pod: PatchedPod, annotations: Readonly<Record<string, string>>): KubeRequest {
  const { namespace, name, uid } = pod;
  return {
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}/pods/${name}/status`,
    contentType: "application/merge-patch+json",
    // Nobody reads the pod that comes back.
    accept: metadataOnly,
    body: JSON.stringify({ metadata: { ...(uid === undefined ? {} : { uid }), annotations } }),
    deadlineMs,
  };
}
