import { gateLabel } from "../../base/annotations.ts";

export const simGuardNamespace = "levee-system";
export const tenantNamespace = "tenant-a";
export const shopNamespace = "shop";
/** Of every guard story. */
export const simNodes = ["node-1", "node-2", "node-3"] as const;

/** A DaemonSet of the CNI, by its account. */
export interface DaemonSetPlace {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

/** The one that runs out of memory. */
export const simMultus: DaemonSetPlace = {
  namespace: "kube-system",
  name: "kube-multus-ds",
  container: "kube-multus",
};
/** Ours, which tells how its node is and bears the gate's label. */
export const levee: DaemonSetPlace = { namespace: simGuardNamespace, name: "levee", container: "daemon" };

export function nodeObject(name: string, number: number, time: string): object {
  return {
    metadata: { name, labels: {} },
    spec: {},
    status: {
      addresses: [{ type: "InternalIP", address: nodeAddress(number) }],
      allocatable: { memory: "64Gi" },
      nodeInfo: { bootID: `${name}-boot-0` },
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: time }],
    },
  };
}

/** Of the node with this number, counted from 0. */
export function nodeAddress(number: number): string {
  const host = number + 1;
  return `10.${(host >> 16) & 255}.${(host >> 8) & 255}.${host & 255}`;
}

export function daemonSetObject({ namespace, name, container }: DaemonSetPlace, pods: number): object {
  const resources = { limits: { memory: "50Mi" }, requests: { memory: "50Mi" } };
  return {
    metadata: { namespace, name },
    spec: { template: { metadata: {}, spec: { containers: [{ name: container, resources }] } } },
    status: countsOf(pods, 1),
  };
}

/** The status of a DaemonSet whose pods are all new and ready. */
export function countsOf(pods: number, observedGeneration: number): object {
  return {
    observedGeneration,
    desiredNumberScheduled: pods,
    updatedNumberScheduled: pods,
    numberReady: pods,
  };
}

/** A pod of a DaemonSet. `killed`: since when it is killed for memory again and again. */
export function daemonPod(place: DaemonSetPlace, node: string, generation: number, killed: string | undefined): object {
  const { namespace, name, container } = place;
  const isOurs = place === levee;
  const oom = { terminated: { reason: "OOMKilled", finishedAt: killed } };
  return {
    metadata: {
      namespace,
      name: `${name}-${node}-${generation}`,
      labels: isOurs ? { [gateLabel]: "deny" } : {},
      ownerReferences: [{ kind: "DaemonSet", name, controller: true }],
    },
    spec: { nodeName: node, containers: [{ name: container }], ...(isOurs ? { serviceAccountName: "levee" } : {}) },
    status: {
      phase: "Running",
      podIP: "10.0.0.9",
      conditions: [{ type: "Ready", status: killed === undefined ? "True" : "False" }],
      containerStatuses: [
        {
          name: container,
          restartCount: killed === undefined ? 0 : 9,
          ...(killed === undefined ? {} : { lastState: oom }),
        },
      ],
    },
  };
}

interface PodWish {
  readonly namespace: string;
  readonly name?: string;
  readonly generateName?: string;
  readonly node: string;
  /** `Job/nightly`. */
  readonly owner?: string;
  readonly time: string;
}

/** A pod that has its node and does not start. */
export function stuckPodObject({ namespace, name, generateName, node, owner, time }: PodWish): object {
  const [kind, ownerName] = (owner ?? "").split("/");
  return {
    metadata: {
      namespace,
      ...(name === undefined ? {} : { name }),
      ...(generateName === undefined ? {} : { generateName }),
      ...(owner === undefined ? {} : { ownerReferences: [{ kind, name: ownerName, controller: true }] }),
    },
    spec: { nodeName: node, containers: [{ name: "main", image: "registry.example/browser:1" }] },
    status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: time }] },
  };
}

/** What a pod's status becomes when it has its network and runs. */
export function startedStatus(): object {
  return { phase: "Running", podIP: "10.244.0.7", conditions: [{ type: "Ready", status: "True" }] };
}

export function jobObject(name: string, parallelism: number): object {
  return { metadata: { namespace: shopNamespace, name }, spec: { parallelism }, status: { active: parallelism } };
}

export function deploymentObject(namespace: string, name: string, replicas: number): object {
  return {
    metadata: { namespace, name },
    spec: { replicas, template: { metadata: {}, spec: { containers: [{ name: "main" }] } } },
    status: { observedGeneration: 1, replicas, updatedReplicas: replicas, availableReplicas: 0 },
  };
}

interface SandboxEvent {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  readonly time: string;
}

/** The kubelet's word that it cannot make a sandbox. */
export function sandboxEventObject({ namespace, pod, uid, node, time }: SandboxEvent): object {
  return {
    metadata: { namespace, name: `${pod}.1` },
    reason: "FailedCreatePodSandBox",
    involvedObject: { kind: "Pod", namespace, name: pod, uid },
    source: { component: "kubelet", host: node },
    reportingInstance: node,
    count: 5,
    lastTimestamp: time,
  };
}
