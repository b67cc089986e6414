import type { PodTarget } from "../../decision/step.ts";

interface Removal {
  /** Asks admission and removes nothing. */
  readonly dryRun: boolean;
  /** Without a grace period. */
  readonly force: boolean;
}

/**
 * The body of a pod's DELETE. `dryRun` must be in the body: given a body, the API server ignores the query's dryRun and
 * deletes. The UID is a precondition, so that another pod of the same name is never deleted.
 */
export function deleteOptions({ uid }: PodTarget, { dryRun, force }: Removal): string {
  if (uid === "") throw new RangeError("Cannot remove a pod without a UID");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid },
    propagationPolicy: "Background",
    ...(force ? { gracePeriodSeconds: 0 } : {}),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  });
}

export function podPath({ namespace, name }: PodTarget): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
