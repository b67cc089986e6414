import type { AttachmentRecord } from "./attachment-record.ts";
import type { Genesis } from "./journal-entry.ts";
import { loadJournal } from "./journal-load.ts";
import { journalPath } from "./journal-open.ts";
import type { LeakEntry } from "./leak-ledger.ts";
import { listQuarantine, type Quarantined } from "../files/quarantine.ts";

/** The journal's content for the CLI, without a daemon or beside a running one. */
interface JournalReading {
  readonly exists: boolean;
  readonly genesis: Genesis | undefined;
  readonly records: readonly AttachmentRecord[];
  readonly leaks: readonly LeakEntry[];
  /** Damage in quarantine, and damage that the next start will put there. */
  readonly quarantined: readonly Quarantined[];
}

/** Reads the journal without a lock and without writing. */
export async function readJournalOnly(stateDir: string): Promise<JournalReading> {
  const { exists, state, damaged } = await loadJournal(journalPath(stateDir));
  const found = damaged.map(({ offset, content, reason }): Quarantined => {
    return { name: "journal.log", source: "journal", reason, offset, bytes: content.length, foundWallMs: 0 };
  });
  return {
    exists,
    genesis: state.genesis,
    records: [...state.records()],
    leaks: state.leaks.all(),
    quarantined: [...(await listQuarantine(stateDir)), ...found],
  };
}
