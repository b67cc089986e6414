import { lstatSync } from "node:fs";
import { lstat, mkdir, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { crc32 } from "../files/crc32.ts";
import { putAside } from "../files/quarantine.ts";

/** What a shim left for a daemon that it could not reach. See docs/protocol.md, "Offline records". */
export interface OfflineRecord {
  /** The file's name in the folder. */
  readonly name: string;
  readonly kind: "del" | "ack";
  /** The payload of each frame, without its length: CALL and CONFIG of a delete, ACK of an acknowledgement. */
  readonly frames: readonly Uint8Array[];
}

/** The shims stop at 1,024 files. More than this is not theirs, and the rest is read in the next round. */
const filesMax = 2_048;
/** Two frames of 1 MiB with their lengths, and the checksum. */
const fileBytesMax = 2 * (1_048_576 + 4) + 4;
const frameCount = { del: 2, ack: 1 } as const;
const sumBytes = 4;
const lengthBytes = 4;
const nameBytesMax = 255;

export function offlineFolderOf(stateDir: string): string {
  return join(stateDir, "offline");
}

/**
 * Everything in the folder that can be read, in the order of names. Damaged files are put aside; a record being written
 * is left alone, and so is whatever no shim makes: links, pipes, folders. What can neither be read nor put aside is told
 * to `onProblem` and does not keep the others from being read.
 */
export async function readOfflineFolder(
  stateDir: string,
  kinds: readonly OfflineRecord["kind"][] = ["del", "ack"],
  onProblem: (name: string, cause: unknown) => void = rethrow,
  isKnown: (name: string) => boolean = () => false,
): Promise<OfflineRecord[]> {
  const folder = offlineFolderOf(stateDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isFile());
  const isWanted = (name: string): boolean => kinds.some((kind) => kind === kindOf(name));
  const names = files
    .map(({ name }) => name)
    .filter(isWanted)
    .toSorted();
  const records: OfflineRecord[] = [];
  // Those that are known count for the limit: what is in memory stays bounded.
  for (const name of names.slice(0, filesMax).filter((candidate) => !isKnown(candidate))) {
    try {
      const record = await readOne(stateDir, name);
      if (record !== undefined) records.push(record);
    } catch (cause) {
      onProblem(name, cause);
    }
  }
  return records;
}

/**
 * Removes what shims that were killed in the middle of writing have left. A shim writes a record in milliseconds, so
 * one that is older than `ageMs` has nobody any more.
 */
export async function sweepOffline(stateDir: string, nowWallMs: number, ageMs: number): Promise<void> {
  const folder = offlineFolderOf(stateDir);
  for (const name of (await readdir(folder)).filter((candidate) => temporaryPattern.test(candidate))) {
    const facts = await lstat(join(folder, name)).catch(() => undefined);
    // Gone already, or not to be removed: the next sweep sees.
    if (facts !== undefined && nowWallMs - facts.mtimeMs > ageMs)
      await unlink(join(folder, name)).catch(() => undefined);
  }
}

const temporaryPattern = /^\.shim-\d+\.tmp$/;

function rethrow(_name: string, cause: unknown): never {
  throw cause;
}

/** Whether the record is still there. Asked by every ADD, and answered from the kernel's memory. */
export function hasOffline(stateDir: string, name: string): boolean {
  try {
    // An error for each that has none would cost more than the look.
    return lstatSync(join(offlineFolderOf(stateDir), name), { throwIfNoEntry: false })?.isFile() === true;
  } catch (cause) {
    // Container IDs may be so long that no shim could leave a record of theirs.
    if (errnoOf(cause) === "ENAMETOOLONG") return false;
    throw cause;
  }
}

/** Takes a record away that is whole but makes no sense; the quarantine keeps what it said, and why it was not done. */
export async function rejectOffline(stateDir: string, name: string, reason: string): Promise<void> {
  const path = join(offlineFolderOf(stateDir), name);
  const content = await readRegularFile(path, { bytesMax: fileBytesMax, followLinks: false });
  await moveAside(stateDir, name, { content, reason, foundWallMs: (await lstat(path)).mtimeMs });
}

/** Removes a record whose content is in the journal. One that is gone already is no error. */
export async function removeOffline(stateDir: string, name: string): Promise<void> {
  // Container IDs may be so long that no shim could leave a record of theirs.
  if (Buffer.byteLength(name, "utf8") > nameBytesMax) return;
  if (kindOf(name) === undefined) {
    throw new LeveeError(
      "internal",
      `Cannot remove an offline record as its name must end in .del or .ack and have no "/": current value is ${JSON.stringify(name)}`,
    );
  }
  await unlink(join(offlineFolderOf(stateDir), name)).catch((cause: unknown) => {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  });
}

const deletePattern = /^[^./\0][^/\0]{0,250}\.del$/;
const acknowledgePattern = /^[0-9a-f]{32}\.ack$/;

function kindOf(name: string): OfflineRecord["kind"] | undefined {
  if (deletePattern.test(name)) return "del";
  return acknowledgePattern.test(name) ? "ack" : undefined;
}

async function readOne(stateDir: string, name: string): Promise<OfflineRecord | undefined> {
  const path = join(offlineFolderOf(stateDir), name);
  const kind = kindOf(name);
  try {
    const { size, mtimeMs } = await lstat(path);
    const file =
      size > fileBytesMax ? undefined : await readRegularFile(path, { bytesMax: fileBytesMax, followLinks: false });
    const frames =
      file === undefined || kind === undefined
        ? `it has ${size} bytes, more than ${fileBytesMax}`
        : framesOf(file, frameCount[kind]);
    if (kind !== undefined && typeof frames !== "string") return { name, kind, frames };
    await moveAside(stateDir, name, { content: file ?? Buffer.alloc(0), reason: String(frames), foundWallMs: mtimeMs });
    return undefined;
  } catch (cause) {
    // Taken away between the listing and now, by the shim that made the call after all.
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** The payloads, or what is wrong with the file. */
function framesOf(file: Buffer, count: number): readonly Uint8Array[] | string {
  const end = file.length - sumBytes;
  if (end < 0) return `it is too short: ${file.length} bytes`;
  if (crc32(file.subarray(0, end)) !== file.readUInt32LE(end)) return "its checksum is wrong";
  const frames: Uint8Array[] = [];
  let at = 0;
  while (at + lengthBytes <= end) {
    const length = file.readUInt32LE(at);
    if (at + lengthBytes + length > end) return `frame ${frames.length + 1} runs past the end of the file`;
    frames.push(file.subarray(at + lengthBytes, at + lengthBytes + length));
    at += lengthBytes + length;
  }
  return at === end && frames.length === count
    ? frames
    : `it must hold ${count} frames: it holds ${frames.length} and ${end - at} bytes more`;
}

async function moveAside(
  stateDir: string,
  name: string,
  damage: { content: Buffer; reason: string; foundWallMs: number },
): Promise<void> {
  await putAside(stateDir, { ...damage, source: "offline", offset: 0, fileName: name });
  await removeOffline(stateDir, name);
}
