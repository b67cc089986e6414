import {
  configMirrorAnnotation,
  configSourceAnnotation,
  defaultNetworkAnnotation,
  deviceRequestAnnotation,
  gateLabel,
  gateLabelDeny,
  networksAnnotation,
  networkStatusAnnotation,
  resourceNameAnnotation,
  uplinkAnnotation,
  uplinkVlanAnnotation,
  keptWish,
} from "../../base/annotations.ts";
import type { Namespace, PodName, PodUid } from "../../base/brand.ts";
import type { SharedTexts } from "../../base/shared-texts.ts";
import { withoutIndents } from "../../base/without-indents.ts";
import { bearsGate } from "./gate-bearer.ts";
import { claimsOf } from "./project-claims.ts";
import { isObject, objectOf, textOf, type JsonObject } from "../client/json-fields.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";
import { sameClaims } from "../../view/pod-claims.ts";
import { namedPriority, type PodFacts } from "../../view/pod-facts.ts";

/** The annotations of a pod that the daemon reads. The others are dropped. */
const podAnnotations = [
  networksAnnotation,
  defaultNetworkAnnotation,
  networkStatusAnnotation,
  configSourceAnnotation,
  configMirrorAnnotation,
];
/** The annotations of a network that the daemon reads. */
const networkAnnotations = [resourceNameAnnotation, deviceRequestAnnotation, uplinkAnnotation, uplinkVlanAnnotation];

/** A domain of 253, a slash and a name of 63. A longer text names no resource, and would be kept for long. */
const resourceNameCharsMax = 317;

/** Twice what 64 networks take. Whoever may create pods could write a longer one; the repair of statuses replaces it. */
const statusCharsMax = 32_768;

const noGate = Object.freeze({});
const noAnnotations: Readonly<Record<string, string>> = Object.freeze({});

/** Whether the settings name such a pod critical. */
export type NamesPod = (namespace: string, labels: JsonObject) => boolean;

/**
 * Keeps the few fields of a pod that the daemon uses; undefined for an object without a name. Labels are only looked at
 * here, because a node's pods have to fit into little memory.
 */
export function projectPod(value: unknown, texts: SharedTexts, isNamed: NamesPod = () => false): PodFacts | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const spec = objectOf(objectOf(value)["spec"]);
  const status = objectOf(objectOf(value)["status"]);
  const name = textOf(metadata["name"]);
  const namespace = texts.share(textOf(metadata["namespace"]));
  if (name === "" || namespace === "") return undefined;
  const annotations = pick(metadata["annotations"], podAnnotations, keptText);
  // The API server has checked these names, so the brands are right.
  return {
    namespace: namespace as Namespace,
    name: name as PodName,
    uid: textOf(metadata["uid"]) as PodUid,
    // Any number of pods that have ended may name this node, as the kubelet refuses those that are too many.
    annotations: /^(?:Succeeded|Failed)$/u.test(textOf(status["phase"])) ? noAnnotations : annotations,
    priority: isNamed(namespace, objectOf(metadata["labels"])) ? namedPriority : priorityOf(spec),
    isStatic: isStatic(annotations),
    phase: texts.share(textOf(status["phase"])),
    hostNetwork: spec["hostNetwork"] === true,
    isDeleting: textOf(metadata["deletionTimestamp"]) !== "",
    ...gateOf(metadata, spec),
    ...claimsOf(spec, status, texts),
  };
}

function priorityOf({ priority }: JsonObject): number | undefined {
  return typeof priority === "number" ? priority : undefined;
}

/** Keeps the few fields of a network definition that the daemon uses; undefined for an object without a name. */
export function projectNetwork(value: unknown, texts: SharedTexts): NetworkDefinition | undefined {
  const metadata = objectOf(objectOf(value)["metadata"]);
  const name = textOf(metadata["name"]);
  const namespace = texts.share(textOf(metadata["namespace"]));
  if (name === "" || namespace === "") return undefined;
  const config = textOf(objectOf(objectOf(value)["spec"])["config"]);
  return {
    namespace: namespace as Namespace,
    name,
    uid: textOf(metadata["uid"]),
    config: config === "" ? undefined : config,
    annotations: pick(metadata["annotations"], networkAnnotations, (text) =>
      text.length > resourceNameCharsMax ? undefined : texts.share(text),
    ),
  };
}

export function samePod(left: PodFacts, right: PodFacts): boolean {
  return (
    left.uid === right.uid &&
    left.priority === right.priority &&
    left.phase === right.phase &&
    left.hostNetwork === right.hostNetwork &&
    left.isDeleting === right.isDeleting &&
    left.isGateClosed === right.isGateClosed &&
    sameClaims(left.claims, right.claims) &&
    sameAnnotations(left.annotations, right.annotations, podAnnotations)
  );
}

export function sameNetwork(left: NetworkDefinition, right: NetworkDefinition): boolean {
  return (
    left.uid === right.uid &&
    left.config === right.config &&
    sameAnnotations(left.annotations, right.annotations, networkAnnotations)
  );
}

/** Two pods of a node bear the label: those of Levee itself. */
function gateOf(metadata: JsonObject, spec: JsonObject): Pick<PodFacts, "isGateClosed"> {
  const door = objectOf(metadata["labels"])[gateLabel];
  if (door === undefined && !bearsGate(metadata, spec)) return noGate;
  return { isGateClosed: door === gateLabelDeny };
}

function pick(
  value: unknown,
  keys: readonly string[],
  keep: (text: string, key: string) => string | undefined,
): Readonly<Record<string, string>> {
  if (!isObject(value)) return noAnnotations;
  const found: Record<string, string> = {};
  let count = 0;
  for (const key of keys) {
    const text = value[key];
    const kept = typeof text === "string" ? keep(text, key) : undefined;
    if (kept === undefined) continue;
    found[key] = kept;
    count += 1;
  }
  return count === 0 ? noAnnotations : found;
}

/** One third of a status in Multus' form is indents. What people write stays as it is, within bounds. */
function keptText(text: string, key: string): string | undefined {
  if (key === networksAnnotation || key === defaultNetworkAnnotation) return keptWish(text);
  const lean = key === networkStatusAnnotation ? withoutIndents(text) : text;
  return lean.length > statusCharsMax ? undefined : lean;
}

function sameAnnotations(
  left: Readonly<Record<string, string>>,
  right: Readonly<Record<string, string>>,
  keys: readonly string[],
): boolean {
  return left === right || keys.every((key) => left[key] === right[key]);
}

/** Kubelet marks static pods with their source, and marks their mirrors in the API too. */
function isStatic(annotations: Readonly<Record<string, string>>): boolean {
  if (annotations[configMirrorAnnotation] !== undefined) return true;
  const source = annotations[configSourceAnnotation];
  return source !== undefined && source !== "api";
}
