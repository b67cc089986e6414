import { writeSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { errnoOf, LeveeError } from "../../base/errors.ts";

/** The few things done to an open log, so that tests can count them and make them fail. */
export interface LogHandle {
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Zeros, where nothing is yet. */
  makeRoom(position: number, length: number): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  inode(): Promise<bigint>;
  close(): Promise<void>;
}

export type OpenLog = (path: string) => Promise<LogHandle>;

interface LogFileOptions {
  readonly openLog?: OpenLog | undefined;
  readonly roomBytes?: number;
}

/** Trying may cost the line it is tried for, where only the sync finds out; doing without costs some milliseconds a write. */
const tightWritesMax = 1_000;

/**
 * A file that only grows, whose end is known exactly: after `size` there is nothing, or zeros that lines are written
 * over. Zeros have their blocks already, so that a sync writes the line alone, and not the file system's journal too.
 */
export class LogFile {
  readonly path: string;
  readonly #openLog: OpenLog;
  readonly #roomBytes: number;
  #handle: LogHandle | undefined;
  #size: number;
  /** Up to here the file has its blocks. */
  #roomEnd = 0;
  /** There was no space for room, or none for a sync: so many writes do without before it is tried again. */
  #tightWrites = 0;
  /** Bytes past `size` may be on disk, or bytes before it may not be: only a rewrite makes the file sound again. */
  #unsound = false;

  /** `roomBytes`: how much room is made at a time; none for a file that is not synced. */
  constructor(path: string, size: number, { openLog = openSystemLog, roomBytes = 0 }: LogFileOptions = {}) {
    this.path = path;
    this.#size = size;
    this.#openLog = openLog;
    this.#roomBytes = roomBytes;
  }

  get size(): number {
    return this.#size;
  }

  get unsound(): boolean {
    return this.#unsound;
  }

  /** Appends `bytes`, or leaves the file as it was and throws. */
  async append(bytes: Uint8Array, sync: boolean): Promise<void> {
    const handle = await this.#open();
    const end = this.#size + bytes.length;
    if (sync && end > this.#roomEnd && this.#roomBytes > 0) await this.#makeRoom(handle, end);
    try {
      await handle.write(bytes, this.#size);
    } catch (cause) {
      await this.cutTail();
      throw cause;
    }
    if (sync) await this.#sync(handle);
    this.#size += bytes.length;
  }

  /** Removes what lies behind the last good line. */
  async cutTail(): Promise<void> {
    try {
      this.#roomEnd = 0;
      const handle = await this.#open();
      await handle.truncate(this.#size);
    } catch {
      // The caller reports the write that failed; the file is rewritten before it is used again.
      this.#unsound = true;
    }
  }

  /** The file is to be rewritten before the next line is appended. */
  distrust(): void {
    this.#unsound = true;
  }

  /** Goes on behind everything that is in the file, damaged or not. */
  async continueBehind(fileBytes: number, endsCleanly: boolean): Promise<void> {
    this.#size = fileBytes;
    if (!endsCleanly) await this.append(Buffer.from("\n"), false);
  }

  /** Called when the path has been replaced by a sound file of this size. */
  async replaced(size: number): Promise<void> {
    this.#size = size;
    this.#unsound = false;
    await this.#letGo();
  }

  /** Notices a file that was removed or replaced under our hands, which would swallow everything written to it. */
  async checkPlace(): Promise<void> {
    try {
      const handle = await this.#open();
      const { ino } = await stat(this.path, { bigint: true });
      if (ino !== (await handle.inode())) this.#unsound = true;
    } catch (cause) {
      if (errnoOf(cause) !== "ENOENT") throw cause;
      this.#unsound = true;
    }
  }

  /** Leaves no room behind: whoever looks at the file sees lines and nothing else. */
  async close(): Promise<void> {
    if (this.#roomEnd > this.#size) await this.cutTail();
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#roomEnd = 0;
    await handle?.close();
  }

  /** A disk that is too full for it has room for the line, perhaps; the write itself will tell. */
  async #makeRoom(handle: LogHandle, from: number): Promise<void> {
    if (this.#tightWrites > 0) {
      this.#tightWrites -= 1;
      return;
    }
    try {
      await handle.makeRoom(from, this.#roomBytes);
      this.#roomEnd = from + this.#roomBytes;
    } catch {
      this.#tightWrites = tightWritesMax;
      await this.cutTail();
    }
  }

  async #open(): Promise<LogHandle> {
    try {
      return (this.#handle ??= await this.#openLog(this.path));
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") this.#unsound = true;
      throw cause;
    }
  }

  async #sync(handle: LogHandle): Promise<void> {
    try {
      await handle.datasync();
    } catch (cause) {
      // After a failed sync Linux forgets which pages were dirty: a second sync would succeed and prove nothing.
      await this.cutTail();
      this.#unsound = true;
      // Some file systems find out only now; the room of a rewritten file would fail the same way, and the line with it.
      if (isFull(cause)) this.#tightWrites = tightWritesMax;
      throw cause;
    }
  }
}

/** What a caller is told when a file of the state folder cannot be written. */
export function unwritable(path: string, cause: unknown): LeveeError {
  if (cause instanceof LeveeError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LeveeError("state-unwritable", `Cannot write ${path}: ${message}`, {
    cause,
  });
}

/** Disk full, or the quota is. */
export function isFull(cause: unknown): boolean {
  const errno = errnoOf(cause);
  return errno === "ENOSPC" || errno === "EDQUOT";
}

export async function openSystemLog(path: string): Promise<LogHandle> {
  const file = await open(path, "r+");
  return {
    async write(bytes, position) {
      // Into the page cache, which takes microseconds; handing it to a thread costs ten times as much. Only the sync waits for the disk.
      writeAll(file.fd, bytes, position);
    },
    async makeRoom(position, length) {
      writeAll(file.fd, Buffer.alloc(length), position);
    },
    datasync: () => file.datasync(),
    truncate: (length) => file.truncate(length),
    inode: async () => (await file.stat({ bigint: true })).ino,
    close: () => file.close(),
  };
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}
