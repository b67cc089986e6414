import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { KubeApi } from "../../kube/client/api.ts";
import { isObject, objectOf, textOf } from "../../kube/client/json-fields.ts";
import { countOf, timeMs } from "../json-values.ts";

/** A Lease, the process that asks for it or holds it, and its means. */
export interface LeaseSeat {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly namespace: string;
  readonly name: string;
  /** Unique to this process: a restarted pod has another identity. */
  readonly identity: string;
}

/** The fields of a `coordination.k8s.io/v1` Lease that decide about the leader. */
export interface LeaseFacts {
  readonly resourceVersion: string;
  /** Empty when the last holder released it. */
  readonly holder: string;
  readonly transitions: number;
  /** When a holder last renewed or released it, by that holder's clock; 0 when unknown. */
  readonly renewedMs: number;
}

interface LeaseWrite {
  readonly namespace: string;
  readonly name: string;
  readonly holder: string;
  readonly transitions: number;
  readonly durationSeconds: number;
  readonly nowMs: number;
  /** The version that was read: the API server refuses the write if it has changed. Undefined for a new Lease. */
  readonly resourceVersion?: string;
}

/** Undefined for a text that is not a Lease. */
export function parseLease(text: string): LeaseFacts | undefined {
  const lease = parseJson(text);
  const resourceVersion = textOf(objectOf(objectOf(lease)["metadata"])["resourceVersion"]);
  if (!isObject(lease) || resourceVersion === "") return undefined;
  const spec = objectOf(lease["spec"]);
  return {
    resourceVersion,
    holder: textOf(spec["holderIdentity"]),
    transitions: countOf(spec["leaseTransitions"]),
    renewedMs: timeMs(spec["renewTime"]),
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

/** The API server wants exactly six decimals. */
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
