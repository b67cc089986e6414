import { KubeError } from "../../kube/client/api.ts";

/** No answer came. */
export function apiUnreachable(): KubeError {
  return new KubeError("api-unreachable", "Cannot reach the API server: it is away");
}

/** An answer other than 2xx, with Kubernetes' own reason and what is said about it. */
export function apiRefusal(status: number, reason: string, retryMs?: number, text = reason): KubeError {
  return new KubeError("api-refused", `The API server refused: ${text}`, { status, reason, retryAfterMs: retryMs });
}
