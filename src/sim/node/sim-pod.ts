import { networksAnnotation } from "../../base/annotations.ts";

/** A pod as the scheduler binds it to a node. */
export interface SimPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isCritical: boolean;
  /** Networks besides the default one, all in the namespace `default`. */
  readonly networks: readonly string[];
}

const criticalPriority = 2_000_001_000;

export function podKeyOf({ namespace, name }: SimPod): string {
  return `${namespace}/${name}`;
}

export function argsOf({ namespace, name, uid }: SimPod, id: string): string {
  return `IgnoreUnknown=1;K8S_POD_NAMESPACE=${namespace};K8S_POD_NAME=${name};K8S_POD_INFRA_CONTAINER_ID=${id};K8S_POD_UID=${uid}`;
}

export interface PodShape {
  readonly phase?: string;
  readonly isDeleting?: boolean;
}

export function podObject({ namespace, name, uid, networks, isCritical }: SimPod, nodeName: string, shape: PodShape) {
  const { phase = "Pending", isDeleting = false } = shape;
  const annotations =
    networks.length === 0 ? {} : { [networksAnnotation]: networks.map((network) => `default/${network}`).join(",") };
  const deleting = isDeleting ? { deletionTimestamp: "2023-11-14T22:13:20Z" } : {};
  return {
    metadata: { namespace, name, uid, annotations, ...deleting },
    spec: { nodeName, ...(isCritical ? { priority: criticalPriority } : {}) },
    status: { phase },
  };
}
