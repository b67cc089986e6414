import type { Genesis } from "./journal-entry.ts";
import type { OpenedJournal } from "./journal-open.ts";

/** Numbers about the journal, for metrics and for people. */
export interface JournalStats {
  readonly genesis: Genesis | undefined;
  readonly attachments: number;
  readonly leaks: number;
  readonly leaksDropped: number;
  /** Without damage that is too old to concern a container of this node. */
  readonly quarantined: number;
  /** Entries whose record has a damaged intent. */
  readonly orphans: number;
  readonly logBytes: number;
  readonly liveBytes: number;
  readonly reserveHeld: boolean;
  /** Records written since the start. */
  readonly written: number;
  /** Entries that are only in memory, because the disk refused them. */
  readonly unwritten: number;
  readonly compactions: number;
  /** Writes that the disk refused, and the last reason. */
  readonly refusals: { readonly count: number; readonly reason: string };
}

export function journalStats({ state, log, reserve, writer, losses }: OpenedJournal): JournalStats {
  return {
    genesis: state.genesis,
    attachments: state.size,
    leaks: state.leaks.size,
    leaksDropped: state.leaks.dropped,
    quarantined: losses.current().length,
    orphans: state.orphans,
    logBytes: log.size,
    liveBytes: state.liveBytes,
    reserveHeld: reserve.held,
    ...writer.counts,
  };
}
