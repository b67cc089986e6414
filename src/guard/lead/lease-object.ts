import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isObject, objectOf, textOf } from "../../kube/client/json-fields.ts";
import { countOf } from "../facts/json-values.ts";

/** Which Lease is meant, who asks for it or holds it, and by what means. */
export interface LeaseSeat {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Of this process and no other: a pod that is started again is somebody else. */
  readonly identity: string;
}

/** A `coordination.k8s.io/v1` Lease, as far as a leader is told by it. */
export interface LeaseFacts {
  readonly resourceVersion: string;
  /** Empty when the last holder let it go. */
  readonly holder: string;
  readonly transitions: number;
}

interface LeaseWrite {
  readonly namespace: string;
  readonly name: string;
  readonly holder: string;
  readonly transitions: number;
  readonly durationSeconds: number;
  readonly nowMs: number;
  /** Of what was read: the server refuses when it has changed since. Undefined for a new one. */
  readonly resourceVersion?: string;
}

/** Undefined for what is no Lease. */
export function parseLease(text: string): LeaseFacts | undefined {
  const lease = parseJson(text);
  const resourceVersion = textOf(objectOf(objectOf(lease)["metadata"])["resourceVersion"]);
  if (!isObject(lease) || resourceVersion === "") return undefined;
  const spec = objectOf(lease["spec"]);
  return {
    resourceVersion,
    holder: textOf(spec["holderIdentity"]),
    transitions: countOf(spec["leaseTransitions"]),
  };
}

export function leaseText({ namespace, name, resourceVersion, nowMs, ...spec }: LeaseWrite): string {
  const now = microTime(nowMs);
  return JSON.stringify({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
    spec: {
      holderIdentity: spec.holder,
      leaseDurationSeconds: spec.durationSeconds,
      leaseTransitions: spec.transitions,
      acquireTime: now,
      renewTime: now,
    },
  });
}

export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
}

/** The server wants exactly six digits behind the point. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
