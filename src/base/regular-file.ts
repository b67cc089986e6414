import { constants } from "node:fs";
import { disk } from "./disk/disk.ts";
import { LeveeError } from "./errors.ts";

interface ReadOptions {
  readonly bytesMax: number;
  /** Whether the path may be a symbolic link. */
  readonly followLinks: boolean;
}

/** Reads a file that others may have placed there. It never waits on a pipe, and never reads a device or an endless file. */
export async function readRegularFile(path: string, options: ReadOptions): Promise<Buffer> {
  const { bytesMax, followLinks } = options;
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (followLinks ? 0 : constants.O_NOFOLLOW);
  const file = await disk.open(path, flags);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new LeveeError("io-failed", `Cannot read ${path} as it must be a regular file`);
    // One byte more than allowed shows that a file is too long, even one that grows meanwhile.
    const buffer = Buffer.alloc(Math.min(facts.size, bytesMax) + 1);
    let size = 0;
    while (size < buffer.length) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, size);
      if (bytesRead === 0) return buffer.subarray(0, size);
      size += bytesRead;
    }
    throw new LeveeError(
      "io-failed",
      `Cannot read ${path} as it may have at most ${bytesMax} bytes: it has ${facts.size} or more`,
    );
  } finally {
    await file.close();
  }
}
