import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";

/** Admission's key for the changes of a running pod: another than for its ADDs. */
export function budgetKey({ pod, containerId }: Pick<AttachmentRecord, "pod" | "containerId">): string {
  return `plug/${pod.uid === "" ? containerId : pod.uid}`;
}
