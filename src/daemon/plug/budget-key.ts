import type { NetworkChange } from "../../attachment/network-changes.ts";
import { networkNameOf } from "../../attachment/selection-element.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/**
 * Admission's key for the changes of a running pod: another than for its ADDs. Each network has its own, so that one that
 * fails does not hold the others.
 */
export function budgetKey({ pod, containerId }: Pick<AttachmentRecord, "pod" | "containerId">, network = ""): string {
  const key = `plug/${pod.uid === "" ? containerId : pod.uid}`;
  return network === "" ? key : `${key}/${network}`;
}

/** The network that decides whether a change can succeed: the one that comes, else the one that goes. */
export function budgetKeyOf(record: Pick<AttachmentRecord, "pod" | "containerId">, change: NetworkChange): string {
  const { leaving, joining } = change;
  return budgetKey(record, joining === undefined ? leaving[0]?.network : networkNameOf(joining.element));
}
