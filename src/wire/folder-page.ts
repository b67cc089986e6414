import { LeveeError } from "../base/errors.ts";
import { flagField, readFields, uint32, type Frame } from "./frame.ts";
import { readOrderEnd, type OrderEnd } from "./outcome.ts";

/** One page of a folder on the host: as many entries as fit into one frame. */
export interface FolderPage {
  readonly entries: readonly FolderEntry[];
  /** There are more entries; ask again with the last name as `after`. */
  readonly isTruncated: boolean;
  /** Other machines may use the folder's file system, too. Also false for a hand that does not say. */
  readonly isShared: boolean;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "other";
  /** Wall time of the last write. */
  readonly changedWallMs: number;
  /** The content of a file of at most 4 KiB; undefined for a longer or unreadable file. */
  readonly content: Buffer | undefined;
}

const kindByNumber: ReadonlyMap<number, FolderEntry["kind"]> = new Map([
  [1, "file"],
  [2, "file"],
  [3, "folder"],
  [4, "other"],
]);
const hasContent = 1;
/** One byte for the kind, eight for the time, one for the length of the name. */
const headBytes = 10;

export function readFolderPage(frame: Frame): { readonly value: FolderPage; readonly outcome: OrderEnd } {
  const entries = readFields(frame, "entry", readEntry);
  const flags = { isTruncated: flagField(frame, "truncated"), isShared: flagField(frame, "shared") };
  return { value: { entries, ...flags }, outcome: readOrderEnd(frame) };
}

function readEntry(bytes: Buffer, begin: number, end: number): FolderEntry {
  const isWhole = end - begin >= headBytes;
  const kind = isWhole ? kindByNumber.get(bytes.readUInt8(begin)) : undefined;
  const nameBegin = begin + headBytes;
  const nameEnd = isWhole ? nameBegin + bytes.readUInt8(begin + 9) : 0;
  if (kind === undefined || nameEnd > end)
    throw new LeveeError(
      "protocol-violated",
      `Cannot read an entry field: its bytes start with ${hexStart(bytes.subarray(begin, end))}`,
    );
  return {
    name: bytes.toString("utf8", nameBegin, nameEnd),
    kind,
    changedWallMs: uint32(bytes, begin + 1) + uint32(bytes, begin + 5) * 2 ** 32,
    content: bytes.readUInt8(begin) === hasContent ? bytes.subarray(nameEnd, end) : undefined,
  };
}

function hexStart(view: Buffer): string {
  return view.toString("hex", 0, 16);
}
