import type { AttachmentRecord } from "./attachment-record.ts";
import type { DamagedBytes } from "../files/checked-line.ts";
import { batchBytesMax, roomBytes } from "./durability.ts";
import type { JournalEntry } from "./journal-entry.ts";
import type { JournalState } from "./journal-state.ts";

/** The least that a disk writes or does not write. */
const sectorBytes = 512;
const zero = 0;

export interface FileEnds {
  /** Of the file, with the room behind its lines. */
  readonly fileBytes: number;
  /** Of the last thing in it that is not room. */
  readonly linesBytes: number;
}

/**
 * Whether a power cut in the middle of a sync can have left this: sectors that were never written are zeros still, with
 * others behind them that were (ADR 0029). A line of JSON has no zeros.
 */
export function isHole({ offset, content }: DamagedBytes, { fileBytes }: FileEnds): boolean {
  for (let from = content.indexOf(zero); from !== -1; from = content.indexOf(zero, from)) {
    const begin = from;
    while (from < content.length && content[from] === zero) from += 1;
    const [runStart, runEnd] = [offset + begin, offset + from];
    // The rest of a sector that had been synced up to this line is missing from the line on.
    const startsRight = begin === 0 || runStart % sectorBytes === 0;
    if (startsRight && (runEnd % sectorBytes === 0 || runEnd === fileBytes)) return true;
  }
  return false;
}

/**
 * Whether what begins at `offset` may never have been synced, by its place. Room is made behind the first line that does
 * not fit any more, and the next one is written only after that one was synced. Without room nothing is known.
 */
export function isBehindLastSync(offset: number, { fileBytes, linesBytes }: FileEnds): boolean {
  if (linesBytes === fileBytes) return false;
  const roomStart = fileBytes - roomBytes;
  // Nothing is in the room yet: what it was made for may be torn.
  return offset >= (linesBytes > roomStart ? roomStart : roomStart - batchBytesMax);
}

/**
 * Whether an entry behind a hole shows that the hole was synced once, so that it is damage: what it builds on was synced
 * before it was written, and is not before the hole. `before` is the state there.
 */
export function provesSync(entry: JournalEntry, before: JournalState): boolean {
  // Most of these were written with the whole file.
  if (entry.kind === "genesis" || entry.kind === "imported" || entry.kind === "leak") return true;
  if (entry.kind === "begin") return !isNew(entry.record);
  if ("id" in entry) return before.leaks.get(entry.id) === undefined;
  const record = before.byToken(entry.token);
  return record === undefined || (entry.kind === "acknowledge" && record.phase === "intent");
}

/** Others are from a rewrite, which is synced as a whole. */
function isNew({ phase, steps, delAttempts }: AttachmentRecord): boolean {
  return phase === "intent" && steps.size === 0 && delAttempts === 0;
}
