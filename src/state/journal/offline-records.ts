import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf, LeveeError } from "../../base/errors.ts";
import { readRegularFile } from "../../base/regular-file.ts";
import { crc32 } from "../files/crc32.ts";
import { putAside } from "../files/quarantine.ts";

/** A file that a shim left for an unreachable daemon. See docs/protocol.md, "Offline records". */
export interface OfflineRecord {
  /** The file's name in the folder. */
  readonly name: string;
  readonly kind: "del" | "ack";
  /** The payload of each frame, without its length: CALL and CONFIG of a delete, ACK of an acknowledgement. */
  readonly frames: readonly Uint8Array[];
}

/** Shims stop at 1,024 files. The next round reads any files beyond this limit. */
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
 * All readable records in the folder, sorted by name. Damaged files go to quarantine. Unfinished records stay, and so
 * do links, pipes and folders, which no shim creates. `onProblem` gets a file that can neither be read nor put aside,
 * and the others are still read.
 */
export async function readOfflineFolder(
  stateDir: string,
  kinds: readonly OfflineRecord["kind"][] = ["del", "ack"],
  onProblem: (name: string, cause: unknown) => void = rethrow,
  isKnown: (name: string) => boolean = () => false,
): Promise<OfflineRecord[]> {
  const folder = offlineFolderOf(stateDir);
  await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  const files = (await disk.entries(folder)).filter((entry) => entry.isFile());
  const isWanted = (name: string): boolean => kinds.some((kind) => kind === kindOf(name));
  const names = files
    .map(({ name }) => name)
    .filter(isWanted)
    .toSorted();
  const records: OfflineRecord[] = [];
  // Known records count for the limit, so that memory stays bounded.
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
 * Removes unfinished records of killed shims. A shim writes a record in milliseconds, so no shim still writes one that
 * is older than `ageMs`.
 */
export async function sweepOffline(stateDir: string, nowWallMs: number, ageMs: number): Promise<void> {
  const folder = offlineFolderOf(stateDir);
  for (const name of (await disk.readdir(folder)).filter((candidate) => temporaryPattern.test(candidate))) {
    const facts = await disk.lstat(join(folder, name)).catch(() => undefined);
    // Already gone, or not removable now; the next sweep tries again.
    if (facts !== undefined && nowWallMs - facts.mtimeMs > ageMs)
      await disk.unlink(join(folder, name)).catch(() => undefined);
  }
}

/** Those of shims, and our own. */
const temporaryPattern = /^\.shim-\d+\.tmp$|\.del\.tmp$/;

function rethrow(_name: string, cause: unknown): never {
  throw cause;
}

/** Whether the record is still there. Every ADD asks, and the kernel answers from memory. */
export function hasOffline(stateDir: string, name: string): boolean {
  try {
    // Throwing an error for a missing file would cost more than the look.
    return disk.lstatSync(join(offlineFolderOf(stateDir), name))?.isFile() === true;
  } catch (cause) {
    // Container IDs may be so long that no shim could leave a record of theirs.
    if (errnoOf(cause) === "ENAMETOOLONG") return false;
    throw cause;
  }
}

/** Writes a delete as a shim does, durable when it resolves. `frames` are as they are sent, with their lengths. */
export async function writeOfflineDelete(stateDir: string, name: string, frames: readonly Uint8Array[]): Promise<void> {
  const folder = offlineFolderOf(stateDir);
  await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await disk.readdir(folder)).length >= writtenMax && !hasOffline(stateDir, name))
    throw new LeveeError(
      "state-unwritable",
      `Cannot keep a delete for later: ${folder} must hold at most ${writtenMax} files, and it is full`,
    );
  const content = Buffer.concat(frames);
  const sum = Buffer.alloc(sumBytes);
  sum.writeUInt32LE(crc32(content));
  await writeFileAtomically(join(folder, name), Buffer.concat([content, sum]), { mode: 0o600, sync: true });
}

/** As many as shims write. */
const writtenMax = 1_024;

/** Moves a record that is whole but invalid to quarantine, with the reason. */
export async function rejectOffline(stateDir: string, name: string, reason: string): Promise<void> {
  const path = join(offlineFolderOf(stateDir), name);
  const content = await readRegularFile(path, { bytesMax: fileBytesMax, followLinks: false });
  await moveAside(stateDir, name, { content, reason, foundWallMs: (await disk.lstat(path)).mtimeMs });
}

/** Removes a record whose content is in the journal. A missing record is no error. */
export async function removeOffline(stateDir: string, name: string): Promise<void> {
  // Container IDs may be so long that no shim could leave a record of theirs.
  if (Buffer.byteLength(name, "utf8") > nameBytesMax) return;
  if (kindOf(name) === undefined) {
    throw new LeveeError(
      "internal",
      `Cannot remove an offline record as its name must end in .del or .ack and have no "/": current value is ${JSON.stringify(name)}`,
    );
  }
  await disk.unlink(join(offlineFolderOf(stateDir), name)).catch((cause: unknown) => {
    // Some read-only file systems refuse before they look.
    if (errnoOf(cause) !== "ENOENT" && hasOffline(stateDir, name)) throw cause;
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
    const { size, mtimeMs } = await disk.lstat(path);
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
    // The shim reached the daemon after all and removed its record since the listing.
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}

/** The payloads, or the file's problem. */
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
