import { LeveeError } from "../base/errors.ts";
import { bytesFields, flagField, type Frame } from "./frame.ts";
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
  readonly content: Uint8Array | undefined;
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
  const entries = bytesFields(frame, "entry").map(readEntry);
  const flags = { isTruncated: flagField(frame, "truncated"), isShared: flagField(frame, "shared") };
  return { value: { entries, ...flags }, outcome: readOrderEnd(frame) };
}

function readEntry(value: Uint8Array): FolderEntry {
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  const kind = view.length < headBytes ? undefined : kindByNumber.get(view.readUInt8(0));
  const nameEnd = kind === undefined ? 0 : headBytes + view.readUInt8(9);
  if (kind === undefined || nameEnd > view.length)
    throw new LeveeError("protocol-violated", `Cannot read an entry field: its bytes start with ${hexStart(view)}`);
  return {
    name: view.toString("utf8", headBytes, nameEnd),
    kind,
    changedWallMs: Number(view.readBigUInt64LE(1)),
    content: view.readUInt8(0) === hasContent ? view.subarray(nameEnd) : undefined,
  };
}

function hexStart(view: Buffer): string {
  return view.toString("hex", 0, 16);
}
