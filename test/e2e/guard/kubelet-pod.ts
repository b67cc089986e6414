import { isDeepStrictEqual } from "node:util";
import { isObject, objectOf, textOf, type JsonObject } from "../../../src/kube/client/json-fields.ts";
import { countOf, objectsOf, timeMs, timeText } from "../../../src/guard/json-values.ts";
import { memoryBytes } from "../../../src/guard/facts/memory-quantity.ts";

/** The fields of a pod that the stand-in for kubelet and scheduler reads. */
export interface KubeletPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly nodeSelector: Readonly<Record<string, string>>;
  /** The node that a DaemonSet's controller made it for. */
  readonly madeForNode: string;
  readonly owner: string;
  readonly hostNetwork: boolean;
  readonly hasStatus: boolean;
  readonly hasStarted: boolean;
  readonly isReady: boolean;
  readonly isDone: boolean;
  /** 0 when it is not being deleted. */
  readonly deletingMs: number;
  readonly containers: readonly string[];
  readonly images: readonly string[];
  readonly memoryLimitBytes: number;
  readonly restarts: number;
  readonly address: string;
  /** When it was last killed for its memory; empty for never. */
  readonly oomKilledAt: string;
}

export function kubeletPod(value: unknown): KubeletPod | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const status = objectOf(objectOf(value)["status"]);
  const name = textOf(metadata["name"]);
  if (name === "") return undefined;
  const containers = objectsOf(spec["containers"]);
  const [first] = objectsOf(status["containerStatuses"]);
  const limits = objectOf(objectOf(containers[0]?.["resources"])["limits"]);
  const [owner] = objectsOf(metadata["ownerReferences"]);
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    uid: textOf(metadata["uid"]),
    node: textOf(spec["nodeName"]),
    nodeSelector: objectOf(spec["nodeSelector"]) as Readonly<Record<string, string>>, // as the API server checked it
    madeForNode: affinityNode(spec),
    owner: owner === undefined ? "" : `${textOf(owner["kind"])}/${textOf(owner["name"])}`,
    hostNetwork: spec["hostNetwork"] === true,
    hasStatus: first !== undefined,
    hasStarted: textOf(first?.["containerID"]) !== "",
    isReady: first?.["ready"] === true,
    isDone: ["Succeeded", "Failed"].includes(textOf(status["phase"])),
    deletingMs: timeMs(metadata["deletionTimestamp"]),
    containers: containers.map((container) => textOf(container["name"])),
    images: containers.map((container) => textOf(container["image"])),
    memoryLimitBytes: memoryBytes(textOf(limits["memory"])) ?? Infinity,
    restarts: countOf(first?.["restartCount"]),
    address: textOf(status["podIP"]),
    oomKilledAt: textOf(objectOf(objectOf(first?.["lastState"])["terminated"])["finishedAt"]),
  };
}

export function sameKubeletPod(left: KubeletPod, right: KubeletPod): boolean {
  return isDeepStrictEqual(left, right);
}

/** The status of a pod whose sandbox is not there yet: nothing of it has ever run. */
export function waitingStatus(pod: KubeletPod, nowMs: number): object {
  return {
    phase: "Pending",
    conditions: [condition("PodScheduled", true, nowMs), condition("Ready", false, nowMs)],
    containerStatuses: pod.containers.map((name) => ({
      ...plainContainer(name),
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: "ContainerCreating" } },
    })),
  };
}

export function runningStatus(pod: KubeletPod, address: string, nowMs: number): object {
  return {
    phase: "Running",
    podIP: address,
    podIPs: [{ ip: address }],
    startTime: timeText(nowMs),
    conditions: [
      condition("PodScheduled", true, nowMs),
      condition("ContainersReady", true, nowMs),
      condition("Ready", true, nowMs),
    ],
    containerStatuses: pod.containers.map((name) => ({
      ...plainContainer(name),
      containerID: `containerd://${pod.uid}-${pod.restarts}`,
      ready: true,
      started: true,
      restartCount: pod.restarts,
      state: { running: { startedAt: timeText(nowMs) } },
      ...(pod.oomKilledAt === "" ? {} : { lastState: oomKill(pod.oomKilledAt) }),
    })),
  };
}

/** The kernel has ended its first container for the memory; kubelet waits before it starts it again. */
export function oomKilledStatus(pod: KubeletPod, nowMs: number): object {
  return {
    phase: "Running",
    conditions: [condition("ContainersReady", false, nowMs), condition("Ready", false, nowMs)],
    containerStatuses: pod.containers.map((name) => ({
      ...plainContainer(name),
      containerID: `containerd://${pod.uid}-${pod.restarts}`,
      ready: false,
      started: false,
      restartCount: pod.restarts + 1,
      state: { waiting: { reason: "CrashLoopBackOff" } },
      lastState: oomKill(timeText(nowMs)),
    })),
  };
}

function oomKill(at: string): object {
  return { terminated: { reason: "OOMKilled", exitCode: 137, startedAt: at, finishedAt: at } };
}

function plainContainer(name: string): object {
  return { name, image: "example.com/none", imageID: "" };
}

function condition(type: string, isTrue: boolean, nowMs: number): object {
  return { type, status: isTrue ? "True" : "False", lastTransitionTime: timeText(nowMs) };
}

/** A DaemonSet's controller chooses the node by an affinity to its name. */
function affinityNode(spec: JsonObject): string {
  const affinity = objectOf(objectOf(spec["affinity"])["nodeAffinity"]);
  const required = objectOf(affinity["requiredDuringSchedulingIgnoredDuringExecution"]);
  const [term] = objectsOf(required["nodeSelectorTerms"]);
  const [field] = objectsOf(term?.["matchFields"]);
  const values: unknown = field?.["values"];
  return isObject(field) && Array.isArray(values) ? textOf(values[0]) : "";
}
