import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { firstChars } from "../../base/short-text.ts";
import { countOf, objectsOf, timeMs } from "../json-values.ts";
import { criticalLabel } from "../facts/critical-label.ts";
import { attachedVolume } from "../facts/attached-volume.ts";
import { memoryBytes } from "../facts/memory-quantity.ts";
import { standingMark, type MemoryMark } from "../facts/memory-mark.ts";
import {
  csiDependency,
  loadBalancerDependency,
  serviceLabel,
  type Dependency,
  type ServiceLabel,
} from "../facts/depended-on.ts";
import { gateAnnotation } from "../facts/gate-annotation.ts";
import type {
  ContainerFacts,
  DaemonSetFacts,
  DeploymentFacts,
  NamespaceFacts,
  NodeFacts,
  StatefulSetFacts,
} from "../facts/world.ts";
import { ownerMarks } from "./project-owners.ts";
import { stopLabel } from "../decide/stop-step.ts";

/** A cluster-scoped object has an empty namespace, because a reflector finds objects by namespace and name. */
export type Cluster<T> = T & { readonly namespace: "" };

/** kured's default for --lock-annotation. */
const kuredLockAnnotation = "weave.works/kured-node-lock";
/** A lock of several owners has some hundred characters for each. */
const lockCharsMax = 8_192;

export function projectNode(value: unknown): Cluster<NodeFacts> | undefined {
  const name = nameOf(value);
  if (name === "") return undefined;
  const status = objectOf(objectOf(value)["status"]);
  const ready = objectsOf(status["conditions"]).find((condition) => condition["type"] === "Ready");
  return {
    namespace: "",
    name,
    isReady: ready?.["status"] === "True",
    memoryBytes: memoryBytes(textOf(objectOf(status["allocatable"])["memory"])) ?? 0,
    address: addressOf(status["addresses"]),
    ...whenKnown("readyChangedMs", timeMs(ready?.["lastTransitionTime"])),
    ...whenKnown("createdMs", timeMs(metadataOf(value)["creationTimestamp"])),
    ...cordonOf(objectOf(objectOf(value)["spec"])),
    ...(controlPlaneLabels.some((label) => label in objectOf(metadataOf(value)["labels"]))
      ? { isControlPlane: true as const }
      : {}),
    ...whenKnown("gateAnnotation", textOf(objectOf(metadataOf(value)["annotations"])[gateAnnotation])),
    ...whenKnown("bootId", textOf(objectOf(status["nodeInfo"])["bootID"])),
  };
}

/** RKE2 and older kubeadm set the second one. */
const controlPlaneLabels = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];
const cordonTaint = "node.kubernetes.io/unschedulable";

function cordonOf(spec: JsonObject): Pick<NodeFacts, "isCordoned" | "cordonedMs"> {
  if (spec["unschedulable"] !== true) return {};
  const taint = objectsOf(spec["taints"]).find(({ key }) => key === cordonTaint);
  return { isCordoned: true, ...whenKnown("cordonedMs", timeMs(taint?.["timeAdded"])) };
}

function whenKnown<K extends string, T extends string | number>(key: K, fact: T): Partial<Record<K, T>> {
  return fact === "" || fact === 0 ? {} : ({ [key]: fact } as Record<K, T>); // one key, which TypeScript widens
}

/** The address goes into a URL, so nothing else may pass. */
const isAddress = /^(?:\d{1,3}(?:\.\d{1,3}){3}|(?=.*:)[0-9a-fA-F:.]{2,45})$/u;

/** Kubelet can write anything here; only an IP address counts. */
function addressOf(addresses: unknown): string {
  const internal = objectsOf(addresses).find(({ type }) => type === "InternalIP");
  const address = textOf(internal?.["address"]);
  return isAddress.test(address) ? address : "";
}

/** Keeps only the stop label. */
export function projectNamespace(value: unknown): Cluster<NamespaceFacts> | undefined {
  const name = nameOf(value);
  if (name === "") return undefined;
  const all = objectOf(metadataOf(value)["labels"]);
  const labels = Object.hasOwn(all, criticalLabel) ? { [criticalLabel]: textOf(all[criticalLabel]) } : {};
  const stop = textOf(all[stopLabel.key]);
  if (stop === "") return { namespace: "", name, labels };
  return {
    ...{ namespace: "", name, labels: { ...labels, [stopLabel.key]: stop } },
    labelledMs: labelledMs(metadataOf(value)),
  };
}

/** When the label's field manager last wrote the object, which is not before it wrote the label. */
function labelledMs({ managedFields }: JsonObject): number {
  const owner = objectsOf(managedFields).find(
    ({ fieldsV1 }) =>
      objectOf(objectOf(objectOf(fieldsV1)["f:metadata"])["f:labels"])[`f:${stopLabel.key}`] !== undefined,
  );
  return timeMs(owner?.["time"]);
}

export function projectDaemonSet(value: unknown): DaemonSetFacts | undefined {
  const metadata = metadataOf(value);
  const name = nameOf(value);
  if (name === "") return undefined;
  const status = objectOf(objectOf(value)["status"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const template = objectOf(spec["template"]);
  const namespace = textOf(metadata["namespace"]);
  const csi = csiDependency(value);
  const marks = ownerMarks(metadata, "apps/DaemonSet");
  const containers = objectsOf(objectOf(template["spec"])["containers"]).map(containerOf);
  return {
    namespace,
    name,
    uid: textOf(metadata["uid"]),
    desired: countOf(status["desiredNumberScheduled"]),
    ready: countOf(status["numberReady"]),
    containers,
    ...marksOf(metadata, containers),
    trackedBy: marks.trackedBy,
    instance: marks.instance,
    updatesOnDelete: objectOf(spec["updateStrategy"])["type"] === "OnDelete",
    ...volumeOf(spec),
    ...whenKnown("kuredLock", firstChars(textOf(objectOf(metadata["annotations"])[kuredLockAnnotation]), lockCharsMax)),
    ...(csi === undefined ? {} : { csi }),
  };
}

function marksOf(
  { annotations, uid }: JsonObject,
  containers: readonly ContainerFacts[],
): Pick<DaemonSetFacts, "memoryMarks"> {
  const marks = containers.flatMap(({ name, memoryLimit: limit, memoryRequest: request }): [string, MemoryMark][] => {
    const mark = standingMark(annotations, { uid: textOf(uid), container: name, limit, request });
    return mark === undefined ? [] : [[name, mark]];
  });
  return marks.length === 0 ? {} : { memoryMarks: Object.fromEntries(marks) };
}

function volumeOf(spec: JsonObject): { readonly attachedVolume?: string } {
  const volume = attachedVolume(spec);
  return volume === undefined ? {} : { attachedVolume: volume };
}

export function projectDeployment(value: unknown): DeploymentFacts | undefined {
  const name = nameOf(value);
  if (name === "") return undefined;
  const spec = objectOf(objectOf(value)["spec"]);
  const desired = spec["replicas"];
  return {
    namespace: textOf(metadataOf(value)["namespace"]),
    name,
    uid: textOf(metadataOf(value)["uid"]),
    ...volumeOf(spec),
    ...(spec["paused"] === true ? { isPaused: true as const } : {}),
    // Kubernetes' default.
    desired: desired === undefined ? 1 : countOf(desired),
    available: countOf(objectOf(objectOf(value)["status"])["availableReplicas"]),
    marks: ownerMarks(metadataOf(value), "apps/Deployment"),
  };
}

export function projectStatefulSet(value: unknown): StatefulSetFacts | undefined {
  const name = nameOf(value);
  if (name === "") return undefined;
  const metadata = metadataOf(value);
  const spec = objectOf(objectOf(value)["spec"]);
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    uid: textOf(metadata["uid"]),
    updatesOnDelete: objectOf(spec["updateStrategy"])["type"] === "OnDelete",
    ...volumeOf(spec),
  };
}

interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** A Service with a selector. */
interface KeptService extends ServiceName, ServiceLabel {
  readonly loadBalancer?: Dependency;
}

/** Undefined without a selector: Kubernetes does not manage the endpoints of such a Service. */
export function projectService(value: unknown): KeptService | undefined {
  const name = nameOf(value);
  const selector = objectOf(objectOf(value)["spec"])["selector"];
  if (name === "" || !isObject(selector) || Object.keys(selector).length === 0) return undefined;
  const loadBalancer = loadBalancerDependency(value);
  return { ...serviceLabel(value), name, ...(loadBalancer === undefined ? {} : { loadBalancer }) };
}

interface EndpointSliceFacts extends ServiceName {
  readonly service: string;
  readonly ready: number;
}

export function projectEndpointSlice(value: unknown): EndpointSliceFacts | undefined {
  const metadata = metadataOf(value);
  const name = nameOf(value);
  if (name === "") return undefined;
  return {
    namespace: textOf(metadata["namespace"]),
    name,
    service: textOf(objectOf(metadata["labels"])["kubernetes.io/service-name"]),
    // By the API's definition, a missing condition means ready.
    ready: objectsOf(objectOf(value)["endpoints"]).filter(
      (endpoint) => objectOf(endpoint["conditions"])["ready"] !== false,
    ).length,
  };
}

function containerOf(container: JsonObject): ContainerFacts {
  const resources = objectOf(container["resources"]);
  return {
    name: textOf(container["name"]),
    memoryLimit: textOf(objectOf(resources["limits"])["memory"]),
    memoryRequest: textOf(objectOf(resources["requests"])["memory"]),
  };
}

function metadataOf(value: unknown): JsonObject {
  return objectOf(objectOf(value)["metadata"]);
}

function nameOf(value: unknown): string {
  return textOf(metadataOf(value)["name"]);
}
