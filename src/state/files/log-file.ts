import { disk } from "../../base/disk/disk.ts";
import { dirname } from "node:path";
import { errnoOf, LeveeError } from "../../base/errors.ts";

/** The operations on an open log, so that tests can count them and make them fail. */
export interface LogHandle {
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Writes zeros past the end. */
  makeRoom(position: number, length: number): Promise<void>;
  datasync(): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Writes no bytes. Throws when the file system has stopped taking any. */
  touch(): void;
  readonly inode: bigint;
  close(): Promise<void>;
}

export type OpenLog = (path: string) => Promise<LogHandle>;

interface LogFileOptions {
  readonly openLog?: OpenLog | undefined;
  readonly roomBytes?: number;
}

/** Writes without room before the next try. On some disks only the sync fails, and then a try costs the line. */
const tightWritesMax = 1_000;

/**
 * An append-only file with a known end: after `size` there is nothing, or room in the form of zeros. Room already has
 * its disk blocks, so that a sync writes only the line and not the file system's journal.
 */
export class LogFile {
  readonly path: string;
  readonly #openLog: OpenLog;
  readonly #roomBytes: number;
  #handle: LogHandle | undefined;
  #size: number;
  /** The end of the room. */
  #roomEnd = 0;
  /** After a full disk, the number of writes that do without room. */
  #tightWrites = 0;
  /** The file may have bytes past `size`, or lack bytes before it. Only a rewrite makes it sound again. */
  #unsound = false;

  /** `roomBytes` is the room made at a time; 0 for a file that is not synced. */
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
    if (sync) {
      await this.#sync(handle);
      this.#stayPut(handle);
    }
    this.#size += bytes.length;
  }

  /** Makes what an earlier process wrote durable. */
  async secure(): Promise<void> {
    await this.#sync(await this.#open());
  }

  /** Removes everything after the last good line. */
  async cutTail(): Promise<void> {
    try {
      this.#roomEnd = 0;
      const handle = await this.#open();
      await handle.truncate(this.#size);
    } catch {
      // The caller throws the failed write's error, and the file is rewritten before its next use.
      this.#unsound = true;
    }
  }

  /** Demands a rewrite before the next line. */
  distrust(): void {
    this.#unsound = true;
  }

  /** Appends after everything in the file, damaged or not. */
  async continueBehind(fileBytes: number, endsCleanly: boolean): Promise<void> {
    this.#size = fileBytes;
    if (!endsCleanly) await this.append(Buffer.from("\n"), false);
  }

  /** A sound file of this size has replaced the path. */
  async replaced(size: number): Promise<void> {
    this.#size = size;
    this.#unsound = false;
    await this.#letGo();
  }

  /** Detects that the file was removed or replaced, so that further writes would be lost. */
  async checkPlace(): Promise<void> {
    try {
      const handle = await this.#open();
      if (!this.#isAt(handle)) this.#unsound = true;
    } catch (cause) {
      if (errnoOf(cause) !== "ENOENT") throw cause;
      this.#unsound = true;
    }
  }

  /** Throws when the next line would be lost or refused, as far as three system calls can tell. Changes nothing. */
  glance(): void {
    disk.accessSync(dirname(this.path));
    const handle = this.#handle;
    if (handle === undefined) return;
    // After an error of the file system, ext4 refuses writes only.
    handle.touch();
    this.#stayPut(handle);
  }

  /** Removes the room, so that a closed file has only lines. */
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

  /** A failure is not an error, because a disk that is too full for room may still take the line. */
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

  /** A line that is synced into a file without a name is on no disk. */
  #stayPut(handle: LogHandle): void {
    if (this.#isAt(handle)) return;
    this.#unsound = true;
    throw new MovedAway(this.path);
  }

  #isAt(handle: LogHandle): boolean {
    try {
      return disk.inodeSync(this.path) === handle.inode;
    } catch {
      // A path that cannot be looked at leads nowhere. The rewrite finds out why.
      return false;
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
      // After a failed sync Linux forgets which pages were dirty, so a second sync would succeed without proof.
      await this.cutTail();
      this.#unsound = true;
      // Some file systems notice a full disk only here. Room in the rewritten file would fail the same way.
      if (isFull(cause)) this.#tightWrites = tightWritesMax;
      throw cause;
    }
  }
}

/** The file, or its folder, was removed, moved or replaced. A rewrite from memory puts it back. */
export class MovedAway extends Error {
  constructor(path: string) {
    super(`${path} was removed or replaced while the daemon was running`);
  }
}

/** The error for a file of the state folder that cannot be written. */
export function unwritable(path: string, cause: unknown): LeveeError {
  if (cause instanceof LeveeError) return cause;
  const message = cause instanceof Error ? cause.message : String(cause);
  return new LeveeError("state-unwritable", `Cannot write ${path}: ${message}`, {
    cause,
  });
}

/** The disk or the quota is full. */
export function isFull(cause: unknown): boolean {
  const errno = errnoOf(cause);
  return errno === "ENOSPC" || errno === "EDQUOT";
}

export async function openSystemLog(path: string): Promise<LogHandle> {
  const file = await disk.open(path, "r+");
  return {
    inode: disk.fdInode(file.fd),
    async write(bytes, position) {
      // Synchronous: a write to the page cache takes microseconds, and a thread would cost ten times as much.
      writeAll(file.fd, bytes, position);
    },
    async makeRoom(position, length) {
      writeAll(file.fd, Buffer.alloc(length), position);
    },
    datasync: () => file.datasync(),
    truncate: (length) => file.truncate(length),
    touch: () => void disk.writeSync(file.fd, nothing, 0, 0, 0),
    close: () => file.close(),
  };
}

const nothing = new Uint8Array(1);

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0;
  while (done < bytes.length) done += disk.writeSync(fd, bytes, done, bytes.length - done, position + done);
}
