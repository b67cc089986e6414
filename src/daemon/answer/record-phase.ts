import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { AttachmentView } from "../../wire/node-view.ts";
import type { Recovery } from "../undo/recovery.ts";

/** The phase of a record for people: recovery knows more than the record. */
export function phaseOf(
  record: AttachmentRecord,
  recovery: Pick<Recovery, "isPending" | "isDeletePending">,
): AttachmentView["phase"] {
  if (recovery.isDeletePending(record)) return "detaching";
  if (record.phase === "acknowledged") return record.delAttempts > 0 ? "detaching" : "attached";
  if (recovery.isPending(record.token)) return "lost";
  return record.phase === "undoing" ? "undoing" : "attaching";
}
