import type { EntryKind } from "./journal-entry.ts";

/** One write of this size takes some milliseconds: nobody waits long behind it. */
export const batchBytesMax = 1_048_576;
/** Made for lines at a time. Some sixty attachments: one sync in a hundred and more pays for the file system's own journal. */
export const roomBytes = 262_144;

/** What the writer of an entry may rely on. */
export interface Durability {
  /** Whether it must survive a power cut, not only a crash of the daemon. */
  readonly sync: boolean;
  /** Whether it may use the reserve: it belongs to an ending, or to an attachment that is already in use. */
  readonly urgent: boolean;
}

export const durability: Readonly<Record<EntryKind, Durability>> = {
  "genesis": { sync: true, urgent: false },
  "imported": { sync: true, urgent: false },
  "begin": { sync: true, urgent: false },
  "step": { sync: false, urgent: false },
  "commit": { sync: true, urgent: false },
  "undoing": { sync: false, urgent: true },
  "acknowledge": { sync: false, urgent: true },
  "del-failed": { sync: false, urgent: true },
  "removed": { sync: false, urgent: true },
  "leak": { sync: true, urgent: true },
  "leak-retried": { sync: false, urgent: true },
  "leak-resolved": { sync: false, urgent: true },
};
