import { constants } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import type { BigIntStats } from "node:fs";
import { LeveeError } from "../base/errors.ts";
import { sha256Hex } from "../base/sha256.ts";
import { limits } from "./limits.ts";

/** The state of a file when it was read: enough to tell whether to read it again. */
export interface FileMark {
  readonly identity: string;
  /** It changed so recently that another change may leave the same times in the file system. */
  readonly isFresh: boolean;
  readonly sizeBytes: number;
}

export interface FileContent {
  readonly mark: FileMark;
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** File systems count time in steps of some milliseconds, network file systems in whole seconds. */
const freshMs = 2_000;

export async function markOf(path: string, wallMs: number): Promise<FileMark> {
  return toMark(await stat(path, { bigint: true }), wallMs);
}

/** Reads a regular file of bounded size. Never waits on a pipe, and never follows a link that replaced the file. */
export async function readSourceFile(path: string, wallMs: number): Promise<FileContent> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const facts = await file.stat({ bigint: true });
    if (!facts.isFile()) throw new LeveeError("decode-failed", "Cannot read the file as it must be a regular file");
    if (facts.size > limits.fileBytesMax) throw tooLarge(facts.size);
    const bytes = await readBounded(file, Number(facts.size));
    const digest = await sha256Hex(bytes);
    return { mark: toMark(facts, wallMs), bytes, digest };
  } finally {
    await file.close();
  }
}

/** The file may grow after its stat, so the limit applies here too. */
async function readBounded(file: FileHandle, expectedBytes: number): Promise<Uint8Array> {
  // One byte more shows that it has grown. Buffers of the full limit for 219 small files would be 56 MiB of garbage.
  let buffer = Buffer.alloc(expectedBytes + 1);
  let length = 0;
  while (length <= limits.fileBytesMax) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(2 * length, limits.fileBytesMax + 1));
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) return Uint8Array.prototype.slice.call(buffer, 0, length);
    length += bytesRead;
  }
  throw tooLarge(BigInt(length));
}

function toMark(facts: BigIntStats, wallMs: number): FileMark {
  return {
    identity: [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(":"),
    isFresh: Number(facts.ctimeMs) > wallMs - freshMs,
    sizeBytes: Number(facts.size),
  };
}

function tooLarge(sizeBytes: bigint): LeveeError {
  return new LeveeError(
    "decode-failed",
    `Cannot read the file as it may have at most ${limits.fileBytesMax} bytes: current size is ${sizeBytes}`,
  );
}
