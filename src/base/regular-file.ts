import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { LeveeError } from "./errors.ts";

interface ReadOptions {
  readonly bytesMax: number;
  /** Whether a link may stand in the file's place. */
  readonly followLinks: boolean;
}

/** Reads a file that others may have put there: never waits on a pipe, never reads a device or a growing file for ever. */
export async function readRegularFile(path: string, options: ReadOptions): Promise<Buffer> {
  const { bytesMax, followLinks } = options;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (followLinks ? 0 : constants.O_NOFOLLOW);
  const file = await open(path, flags);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new LeveeError("io-failed", `Cannot read ${path} as it must be a regular file`);
    // One byte more than allowed tells a file that is too long, even one that grows meanwhile.
    const buffer = Buffer.alloc(Math.min(facts.size, bytesMax) + 1);
    let size = 0;
    while (size < buffer.length) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, size);
      if (bytesRead === 0) return buffer.subarray(0, size);
      size += bytesRead;
    }
    throw new LeveeError(
      "io-failed",
      `Cannot read ${path} as it may have ${bytesMax} bytes: it has ${facts.size} or more`,
    );
  } finally {
    await file.close();
  }
}
