import { networkChanges, type NetworkChange } from "../../attachment/network-changes.ts";
import { parseSelection } from "../../attachment/selection.ts";
import { networksAnnotation } from "../../base/annotations.ts";
import { trimSpace } from "../../base/trim-space.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { PodFacts } from "../../view/pod-facts.ts";

type NodeNetworks = Pick<DaemonConfig, "defaultNetworks" | "multusNamespace">;

/**
 * The changes that a pod's annotation asks for. Throws `annotation-invalid`: an annotation that cannot be read changes
 * nothing.
 */
export function wantedChanges(
  pod: PodFacts,
  record: AttachmentRecord,
  { defaultNetworks, multusNamespace }: NodeNetworks,
): readonly NetworkChange[] {
  const elements = parseSelection(pod.annotations[networksAnnotation] ?? "", pod.namespace);
  const ofNode = new Set(defaultNetworks.map((name) => `${multusNamespace}/${name}`));
  return networkChanges({ chains: record.chains, ofNode, isImported: record.origin === "multus" }, elements);
}

/**
 * Whether the annotation says nothing: a missing one may be a mistake. `[]` and an empty text say that the pod wants no
 * networks; KubeVirt writes the latter when a machine's last network goes.
 */
export function isSilent(pod: PodFacts): boolean {
  return trimSpace(pod.annotations[networksAnnotation] ?? "null") === "null";
}

/** Whether the pod keeps its namespace for now. A static pod's annotation is its file's, which makes a new pod. */
export function keepsNetns(pod: PodFacts): boolean {
  const hasEnded = pod.phase === "Succeeded" || pod.phase === "Failed";
  return !hasEnded && pod.isDeleting !== true && pod.hostNetwork !== true && !pod.isStatic;
}

/** The pod's attachment: the newest of its own records. */
export function ownRecord(pod: PodFacts, records: readonly AttachmentRecord[]): AttachmentRecord | undefined {
  return records.findLast(({ pod: { uid } }) => uid === "" || pod.uid === "" || uid === pod.uid);
}
