import { gateLabel } from "../../base/annotations.ts";
import { oneLine } from "../../base/plain-text.ts";
import { firstChars } from "../../base/short-text.ts";
import { isObject, objectOf, textOf, type JsonObject } from "../../kube/client/json-fields.ts";
import { bearsGate } from "../../kube/watch/gate-bearer.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { objectsOf, timeMs } from "../json-values.ts";
import type { ClusterPod } from "./cluster-pod.ts";
import { podNetworks } from "./pod-networks.ts";
import { podShape } from "./pod-shape.ts";

/** A pod's own reason for having no owner. The policy that asks for owners admits such pods too. */
export const exemptAnnotation = "levee.dev/ownerless-reason";
const mirrorAnnotation = "kubernetes.io/config.mirror";
const helmHookAnnotation = "helm.sh/hook";
/** Enough to recognise a user agent. */
const clientCharsMax = 100;

/** Undefined for a value that is not a pod with a name. */
export function projectClusterPod(value: unknown, texts: SharedTexts): ClusterPod | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const status = objectOf(objectOf(value)["status"]);
  const name = textOf(metadata["name"]);
  const namespace = texts.share(textOf(metadata["namespace"]));
  if (name === "" || namespace === "") return undefined;
  const annotations = objectOf(metadata["annotations"]);
  const owner = texts.share(ownerOf(metadata["ownerReferences"]));
  const createdMs = timeMs(metadata["creationTimestamp"]);
  const node = texts.share(textOf(spec["nodeName"]));
  return {
    namespace,
    name,
    uid: textOf(metadata["uid"]),
    phase: texts.share(textOf(status["phase"])),
    node,
    createdMs,
    boundMs: node === "" ? 0 : boundMs(status, createdMs),
    owner,
    shape: owner === "" ? texts.share(podShape(metadata, spec)) : "",
    clientSays: owner === "" ? texts.share(clientOf(metadata["managedFields"])) : "",
    isMirror: annotations[mirrorAnnotation] !== undefined,
    isExempt: textOf(annotations[exemptAnnotation]) !== "" || annotations[helmHookAnnotation] !== undefined,
    isDeleting: textOf(metadata["deletionTimestamp"]) !== "",
    isReady: isTrue(status, "Ready"),
    ...doorOf(metadata, spec, texts),
    ...podNetworks({ namespace, annotations, spec }, texts),
    ...lifeOf(status),
  };
}

/** Any reference counts as an owner; the controller's goes first. */
function ownerOf(references: unknown): string {
  const owners = objectsOf(references);
  const owner = owners.find((reference) => reference["controller"] === true) ?? owners[0];
  return owner === undefined ? "" : `${textOf(owner["kind"])}/${textOf(owner["name"])}`;
}

/** A pod created with its node already set has no such condition. */
function boundMs(status: JsonObject, createdMs: number): number {
  const scheduled = objectsOf(status["conditions"]).find(
    (condition) => condition["type"] === "PodScheduled" && condition["status"] === "True",
  );
  return timeMs(scheduled?.["lastTransitionTime"]) || createdMs;
}

type Life = Pick<ClusterPod, "everRan" | "restarts" | "oomKilledMs">;

function lifeOf(status: JsonObject): Life {
  const containers = [
    ...objectsOf(status["initContainerStatuses"]),
    ...objectsOf(status["containerStatuses"]),
    ...objectsOf(status["ephemeralContainerStatuses"]),
  ];
  let restarts = 0;
  for (const container of containers) {
    const count = container["restartCount"];
    restarts += typeof count === "number" ? count : 0;
  }
  return {
    everRan: textOf(status["podIP"]) !== "" || hasSandbox(status) || containers.some(hasRun),
    restarts,
    oomKilledMs: Math.max(0, ...containers.map(oomKilledMs)),
  };
}

/** Since Kubernetes 1.29 kubelet sets this condition when sandbox and network are ready: the pod waits for something else. */
function hasSandbox(status: JsonObject): boolean {
  return isTrue(status, "PodReadyToStartContainers");
}

function isTrue(status: JsonObject, type: string): boolean {
  return objectsOf(status["conditions"]).some(
    (condition) => condition["type"] === type && condition["status"] === "True",
  );
}

function doorOf(metadata: JsonObject, spec: JsonObject, texts: SharedTexts): Pick<ClusterPod, "door"> {
  const door = textOf(objectOf(metadata["labels"])[gateLabel]);
  return door === "" && !bearsGate(metadata, spec) ? {} : { door: texts.share(door) };
}

/** The policy that confines the guard uses the same signs. */
function hasRun(container: JsonObject): boolean {
  const state = objectOf(container["state"]);
  const count = container["restartCount"];
  return (
    textOf(container["containerID"]) !== "" ||
    (typeof count === "number" && count > 0) ||
    container["started"] === true ||
    isObject(state["running"]) ||
    isObject(state["terminated"]) ||
    Object.keys(objectOf(container["lastState"])).length > 0
  );
}

function oomKilledMs(container: JsonObject): number {
  const ends = [objectOf(container["state"])["terminated"], objectOf(container["lastState"])["terminated"]];
  const kills = ends.map(objectOf).filter((end) => end["reason"] === "OOMKilled");
  return Math.max(0, ...kills.map((end) => timeMs(end["finishedAt"])));
}

/** The user agent that created the object: the writer of the oldest entry without a subresource. It can be anything. */
function clientOf(managedFields: unknown): string {
  const writers = objectsOf(managedFields)
    .filter((entry) => textOf(entry["subresource"]) === "")
    .toSorted((left, right) => timeMs(left["time"]) - timeMs(right["time"]));
  return firstChars(oneLine(textOf(writers[0]?.["manager"])), clientCharsMax);
}
