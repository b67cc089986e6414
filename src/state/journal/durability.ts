import type { EntryKind } from "./journal-entry.ts";

/** A write of this size takes some milliseconds, so no call waits long behind it. */
export const batchBytesMax = 1_048_576;
/**
 * Room made at a time, for some sixty attachments. So only one sync in a hundred or more writes the file system's
 * journal.
 */
export const roomBytes = 262_144;

/** The guarantees for an entry. */
export interface Durability {
  /** Whether the entry must survive a power cut, not only a crash of the daemon. */
  readonly sync: boolean;
  /** Whether it may use the reserve, because it ends an attachment or belongs to one in use. */
  readonly urgent: boolean;
}

export const durability: Readonly<Record<EntryKind, Durability>> = {
  "genesis": { sync: true, urgent: false },
  "imported": { sync: true, urgent: false },
  "begin": { sync: true, urgent: false },
  "step": { sync: false, urgent: false },
  // After a power cut its attachment is gone with its namespace, and the intent is enough to undo the rest.
  "commit": { sync: false, urgent: false },
  "undoing": { sync: false, urgent: true },
  "acknowledge": { sync: false, urgent: true },
  "del-failed": { sync: false, urgent: true },
  "plug": { sync: true, urgent: false },
  "plug-step": { sync: false, urgent: false },
  "plug-ended": { sync: true, urgent: true },
  "removed": { sync: false, urgent: true },
  "leak": { sync: true, urgent: true },
  "leak-retried": { sync: false, urgent: true },
  "leak-resolved": { sync: false, urgent: true },
};
