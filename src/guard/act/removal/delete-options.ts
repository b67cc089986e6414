import type { PodTarget } from "../../decision/step.ts";

interface Removal {
  /** Only tried: admission is asked and nothing is removed. */
  readonly dryRun: boolean;
  /** Without a grace period. */
  readonly force: boolean;
}

/**
 * The body of a pod's DELETE. `dryRun` belongs in here: with a body the API server ignores the one of the query, and
 * deletes. The UID is a precondition, so that a pod of the same name is never hit.
 */
export function deleteOptions({ uid }: PodTarget, { dryRun, force }: Removal): string {
  if (uid === "") throw new RangeError("A pod is removed by its UID, and this target has none");
  return JSON.stringify({
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid },
    propagationPolicy: "Background",
    ...(force ? { gracePeriodSeconds: 0 } : {}),
    ...(dryRun ? { dryRun: ["All"] } : {}),
  });
}

/** Without a query. */
export function podPath({ namespace, name }: PodTarget): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}
