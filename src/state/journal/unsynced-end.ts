import type { AttachmentRecord } from "./attachment-record.ts";
import type { DamagedBytes } from "../files/checked-line.ts";
import { batchBytesMax, roomBytes } from "./durability.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { JournalState } from "./journal-state.ts";

/** The smallest unit that a disk writes. */
const sectorBytes = 512;
const zero = 0;

export interface FileEnds {
  /** Including the room after the lines. */
  readonly fileBytes: number;
  /** Without the room. */
  readonly linesBytes: number;
}

/**
 * Whether a power cut during a sync can have left this damage: unwritten sectors are still zeros, with written ones
 * behind them (ADR 0029). A line of JSON has no zeros.
 */
export function isHole({ offset, content }: DamagedBytes, { fileBytes }: FileEnds): boolean {
  for (let from = content.indexOf(zero); from !== -1; from = content.indexOf(zero, from)) {
    const begin = from;
    while (from < content.length && content[from] === zero) from += 1;
    const [runStart, runEnd] = [offset + begin, offset + from];
    // In a sector that was synced up to this line, the zeros start at the line.
    const startsRight = begin === 0 || runStart % sectorBytes === 0;
    if (startsRight && (runEnd % sectorBytes === 0 || runEnd === fileBytes)) return true;
  }
  return false;
}

/**
 * Whether the bytes at `offset` may never have been synced. Room is made after the first line that no longer fits, and
 * the next line is written only after the sync of that one. Without room the file shows nothing.
 */
export function isBehindLastSync(offset: number, { fileBytes, linesBytes }: FileEnds): boolean {
  if (linesBytes === fileBytes) return false;
  const roomStart = fileBytes - roomBytes;
  // The room is still empty, so the line in front of it may be torn.
  return offset >= (linesBytes > roomStart ? roomStart : roomStart - batchBytesMax);
}

/**
 * Whether an entry behind a hole proves that the hole was synced once, so that the hole is damage: the entry depends on
 * a synced entry that is not in front of the hole. `before` is the state in front of it.
 */
export function provesSync(entry: JournalEntry, before: JournalState): boolean {
  // Most of these come from a rewrite of the whole file.
  if (entry.kind === "genesis" || entry.kind === "imported" || entry.kind === "leak") return true;
  if (entry.kind === "begin") return !isNew(entry.record);
  if ("id" in entry) return before.leaks.get(entry.id) === undefined;
  const record = before.byToken(entry.token);
  if (record === undefined) return true;
  // A change of networks takes steps and ends only after its own entry was synced.
  return (entry.kind === "plug-step" || entry.kind === "plug-ended") && record.plug === undefined;
}

/** A record with progress in its first entry comes from a rewrite, which is synced as a whole. */
function isNew({ phase, steps, delAttempts }: AttachmentRecord): boolean {
  return phase === "intent" && steps.size === 0 && delAttempts === 0;
}
