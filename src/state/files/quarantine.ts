import { disk } from "../../base/disk/disk.ts";
import type { DiskFile } from "../../base/disk/disk-door.ts";
import { join } from "node:path";
import { writeFileAtomically } from "../../base/atomic-file.ts";
import { errnoOf } from "../../base/errors.ts";
import { sha256Hex } from "../../base/sha256.ts";
import { countAt, optionalTextAt, parseShape, textAt, timeAt } from "./json-shape.ts";

/** Damaged bytes, put aside with the reason. The folder is the lasting record of a loss. */
export interface Quarantined {
  readonly name: string;
  readonly source: QuarantineSource;
  readonly reason: string;
  /** The place of the bytes in their file. */
  readonly offset: number;
  readonly bytes: number;
  readonly foundWallMs: number;
  /** The boot in which it was found; undefined when that is not known. */
  readonly bootId?: string | undefined;
}

type QuarantineSource = "journal" | "index" | "offline";

export interface Damage {
  readonly source: QuarantineSource;
  readonly offset: number;
  readonly content: Uint8Array;
  readonly reason: string;
  readonly foundWallMs: number;
  readonly bootId?: string | undefined;
  /** The file of the bytes, if it is not the source itself. */
  readonly fileName?: string;
}

/** Enough to see a pattern, and a limit for a disk that damages much more. */
export const quarantineFilesMax = 256;

/** Short enough that the header line can always be read back. */
const reasonCharsMax = 500;

export function quarantineFolder(stateDir: string): string {
  return join(stateDir, "quarantine");
}

/**
 * Copies damage into quarantine, durably. The same bytes from the same place get the same name, so a repeat is
 * harmless.
 */
export async function putAside(stateDir: string, damage: Damage): Promise<Quarantined> {
  const { source, offset, foundWallMs, content } = damage;
  const reason = damage.reason.slice(0, reasonCharsMax);
  // Not a CRC: all files that end in their own CRC have the same one.
  const sum = (await sha256Hex(damage.fileName ?? "", content)).slice(0, 16);
  const entry: Quarantined = {
    name: `${source}-${offset}-${sum}.bad`,
    source,
    reason,
    offset,
    bytes: content.length,
    foundWallMs,
    ...(damage.bootId === undefined ? {} : { bootId: damage.bootId }),
  };
  const folder = quarantineFolder(stateDir);
  await disk.mkdir(folder, { recursive: true, mode: 0o700 });
  await makeRoom(folder);
  const header = `${JSON.stringify({ ...entry, fileName: damage.fileName })}\n`;
  await writeFileAtomically(join(folder, entry.name), Buffer.concat([Buffer.from(header), content]), {
    mode: 0o600,
    sync: true,
  });
  return entry;
}

/** The oldest file goes: it is the least likely to concern a container that still lives. */
async function makeRoom(folder: string): Promise<void> {
  const names = await disk.readdir(folder);
  if (names.length < quarantineFilesMax) return;
  const files = await Promise.all(
    names.map(async (name) => ({ name, changedMs: (await disk.stat(join(folder, name))).mtimeMs })),
  );
  const oldest = files.toSorted((left, right) => left.changedMs - right.changedMs);
  for (const { name } of oldest.slice(0, names.length - quarantineFilesMax + 1)) await disk.unlink(join(folder, name));
}

/** The files in the folder. An unreadable file still counts, because it shows a loss. */
export async function listQuarantine(stateDir: string): Promise<readonly Quarantined[]> {
  const names = await disk.readdir(quarantineFolder(stateDir)).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
  const badNames = names.filter((name) => name.endsWith(".bad")).toSorted();
  return Promise.all(badNames.slice(0, quarantineFilesMax).map((name) => readHeader(stateDir, name)));
}

const headerBytesMax = 4_096;

async function readHeader(stateDir: string, name: string): Promise<Quarantined> {
  const file = await disk.open(join(quarantineFolder(stateDir), name), "r");
  try {
    const buffer = Buffer.alloc(headerBytesMax);
    const { bytesRead } = await file.read(buffer, 0, headerBytesMax, 0);
    const line = buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "";
    return parseHeader(line, name) ?? (await unreadable(file, name));
  } finally {
    await file.close();
  }
}

/** The bytes below the header matter, and they are still there. */
async function unreadable(file: DiskFile, name: string): Promise<Quarantined> {
  const foundWallMs = Math.round((await file.stat()).mtimeMs);
  return { name, source: sourceOf(name), reason: "its first line cannot be read", offset: 0, bytes: 0, foundWallMs };
}

function parseHeader(line: string, name: string): Quarantined | undefined {
  const source = sourceOf(name);
  try {
    const shape = parseShape(line, "the first line of a quarantined file");
    const file = optionalTextAt(shape, "fileName");
    const bootId = optionalTextAt(shape, "bootId");
    const reason = textAt(shape, "reason") + (file === undefined ? "" : ` (${file})`);
    return {
      name,
      source,
      reason,
      offset: countAt(shape, "offset"),
      bytes: countAt(shape, "bytes"),
      foundWallMs: timeAt(shape, "foundWallMs"),
      ...(bootId === undefined ? {} : { bootId }),
    };
  } catch {
    // No error: the caller takes the file's own time.
    return undefined;
  }
}

function sourceOf(name: string): QuarantineSource {
  if (name.startsWith("offline-")) return "offline";
  return name.startsWith("index-") ? "index" : "journal";
}
