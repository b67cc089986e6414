import { disk } from "../../base/disk/disk.ts";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { lineVersion } from "../files/checked-line.ts";
import { decodeEntries, type RecorderEntry } from "./recorder-entry.ts";
import { listSegments, segmentCount, segmentOf, type RecorderSegment } from "./recorder-segments.ts";

/** Longer than any entry, even with both texts escaped. */
const tailBytes = 32_768;
const newlineByte = 0x0a;

/**
 * The flight recorder's files. They are append-only and never synced, and the oldest file is dropped as a whole.
 * Appended lines survive the end of this process; a power cut loses about the last 30 s, which the kernel has not
 * written back. Everything is synchronous, because a write to the page cache takes microseconds and a new file comes
 * once in a thousand entries.
 */
export class RecorderRing {
  readonly #folder: string;
  readonly #segmentBytesMax: number;
  #segment: RecorderSegment;
  #fd: number;
  #bytes: number;
  /** The last line may be incomplete, so the next one starts with a newline of its own. */
  #isTorn: boolean;

  /** Continues the newest file. Throws errors of the file system. */
  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#segmentBytesMax = Math.floor(bytesMax / segmentCount);
    disk.mkdirSync(folder, { recursive: true, mode: 0o700 });
    setAside(folder);
    this.#segment = listSegments(folder).at(-1) ?? segmentOf(folder, 1);
    this.#fd = disk.openSync(this.#segment.path, "a+", 0o600);
    this.#bytes = disk.fstatSync(this.#fd).size;
    this.#isTorn = this.#bytes > 0 && this.#tail(1)[0] !== newlineByte;
    this.#dropOldest(segmentCount);
  }

  /** The newest readable entry, if any. */
  last(): RecorderEntry | undefined {
    return decodeEntries(this.#tail(tailBytes)).at(-1);
  }

  /** Appends whole lines. After an error the lines may be lost, but the next call works again. */
  append(lines: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines, "utf8");
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#segmentBytesMax) this.#turnOver();
    // Someone may have cleaned the folder, and writes to a file without a name would be lost.
    else if (disk.fstatSync(this.#fd).nlink === 0) this.#open(this.#segment);
    this.#isTorn = true;
    for (let done = 0; done < bytes.length;) {
      const count = disk.writeSync(this.#fd, bytes, done, bytes.length - done, null);
      this.#bytes += count;
      done += count;
    }
    this.#isTorn = false;
  }

  close(): void {
    disk.closeSync(this.#fd);
  }

  /** Drops the oldest file first, because a full disk has no other room for the new one. */
  #turnOver(): void {
    this.#dropOldest(segmentCount - 1);
    this.#open(segmentOf(this.#folder, this.#segment.number + 1));
    this.#isTorn = false;
  }

  #open(segment: RecorderSegment): void {
    disk.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const fd = disk.openSync(segment.path, "a+", 0o600);
    disk.closeSync(this.#fd);
    this.#fd = fd;
    this.#segment = segment;
    this.#bytes = disk.fstatSync(fd).size;
  }

  #dropOldest(left: number): void {
    for (const { path } of listSegments(this.#folder).slice(0, -left)) remove(path);
  }

  #tail(count: number): Buffer {
    const buffer = Buffer.alloc(Math.min(count, this.#bytes));
    const read = disk.readSync(this.#fd, buffer, 0, buffer.length, this.#bytes - buffer.length);
    return buffer.subarray(0, read);
  }
}

const asideSuffix = ".aside";

/**
 * Files of another version are renamed, not extended or dropped. One ring's worth is kept for a version that reads
 * them.
 */
function setAside(folder: string): void {
  const foreign = listSegments(folder).filter(({ path }) => isForeign(path));
  for (const { path } of foreign) disk.renameSync(path, `${path}${asideSuffix}`);
  const aside = disk.readdirSync(folder).filter((name) => name.endsWith(asideSuffix));
  for (const name of aside.toSorted().slice(0, -segmentCount)) remove(join(folder, name));
}

/** Judged by the first line. A first line without a version is damage, which readers skip. */
function isForeign(path: string): boolean {
  const fd = disk.openSync(path, "r");
  try {
    const start = Buffer.alloc(16);
    const read = disk.readSync(fd, start, 0, start.length, 0);
    const version = /^\n?F(\d+) /.exec(start.toString("latin1", 0, read))?.[1];
    return version !== undefined && Number(version) !== lineVersion;
  } finally {
    disk.closeSync(fd);
  }
}

function remove(path: string): void {
  try {
    disk.unlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
