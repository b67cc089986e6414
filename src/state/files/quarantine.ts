import { mkdir, open, readdir } from "node:fs/promises";
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
}

type QuarantineSource = "journal" | "index" | "offline";

export interface Damage {
  readonly source: QuarantineSource;
  readonly offset: number;
  readonly content: Uint8Array;
  readonly reason: string;
  readonly foundWallMs: number;
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
  };
  const folder = quarantineFolder(stateDir);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await readdir(folder);
  if (names.length < quarantineFilesMax) {
    const header = `${JSON.stringify({ ...entry, fileName: damage.fileName })}\n`;
    await writeFileAtomically(join(folder, entry.name), Buffer.concat([Buffer.from(header), content]), {
      mode: 0o600,
      sync: true,
    });
  }
  return entry;
}

/** The files in the folder. An unreadable file still counts, because it shows a loss. */
export async function listQuarantine(stateDir: string): Promise<readonly Quarantined[]> {
  const names = await readdir(quarantineFolder(stateDir)).catch((cause: unknown) => {
    if (errnoOf(cause) === "ENOENT") return [];
    throw cause;
  });
  const badNames = names.filter((name) => name.endsWith(".bad")).toSorted();
  return Promise.all(badNames.slice(0, quarantineFilesMax).map((name) => readHeader(stateDir, name)));
}

const headerBytesMax = 4_096;

async function readHeader(stateDir: string, name: string): Promise<Quarantined> {
  const file = await open(join(quarantineFolder(stateDir), name), "r");
  try {
    const buffer = Buffer.alloc(headerBytesMax);
    const { bytesRead } = await file.read(buffer, 0, headerBytesMax, 0);
    return parseHeader(buffer.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? "", name);
  } finally {
    await file.close();
  }
}

function parseHeader(line: string, name: string): Quarantined {
  const source = sourceOf(name);
  try {
    const shape = parseShape(line, "the first line of a quarantined file");
    const file = optionalTextAt(shape, "fileName");
    const reason = textAt(shape, "reason") + (file === undefined ? "" : ` (${file})`);
    return {
      name,
      source,
      reason,
      offset: countAt(shape, "offset"),
      bytes: countAt(shape, "bytes"),
      foundWallMs: timeAt(shape, "foundWallMs"),
    };
  } catch {
    // No error: the bytes below the header matter, and they are still there.
    return { name, source, reason: "its first line cannot be read", offset: 0, bytes: 0, foundWallMs: 0 };
  }
}

function sourceOf(name: string): QuarantineSource {
  if (name.startsWith("offline-")) return "offline";
  return name.startsWith("index-") ? "index" : "journal";
}
