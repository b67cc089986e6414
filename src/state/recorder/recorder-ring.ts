import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { errnoOf } from "../../base/errors.ts";
import { lineVersion } from "../files/checked-line.ts";
import { decodeEntries, type RecorderEntry } from "./recorder-entry.ts";
import { listSegments, segmentCount, segmentOf, type RecorderSegment } from "./recorder-segments.ts";

/** Longer than any entry with both of its texts escaped. */
const tailBytes = 32_768;
const newlineByte = 0x0a;

/**
 * The flight recorder's files: appended to, never synced, and the oldest dropped as a whole when there are enough. What
 * `append` has taken is with the kernel and outlives this process however it ends; a power cut costs what the kernel had
 * not written back yet, some 30 s. Everything is synchronous: a write into the page cache takes microseconds, and a file
 * is changed once in a thousand entries.
 */
export class RecorderRing {
  readonly #folder: string;
  readonly #segmentBytesMax: number;
  #segment: RecorderSegment;
  #fd: number;
  #bytes: number;
  /** A line may have been cut off before, so the next one begins with a newline of its own. */
  #isTorn: boolean;

  /** Goes on where the last one ended. Throws what the file system says. */
  constructor(folder: string, bytesMax: number) {
    this.#folder = folder;
    this.#segmentBytesMax = Math.floor(bytesMax / segmentCount);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    setAside(folder);
    this.#segment = listSegments(folder).at(-1) ?? segmentOf(folder, 1);
    this.#fd = openSync(this.#segment.path, "a+", 0o600);
    this.#bytes = fstatSync(this.#fd).size;
    this.#isTorn = this.#bytes > 0 && this.#tail(1)[0] !== newlineByte;
    this.#dropOldest(segmentCount);
  }

  /** The newest entry that can be read; undefined when there is none. */
  last(): RecorderEntry | undefined {
    return decodeEntries(this.#tail(tailBytes)).at(-1);
  }

  /** Whole lines. After an error nothing is certain but that the next call may be tried. */
  append(lines: string): void {
    const bytes = Buffer.from(this.#isTorn ? `\n${lines}` : lines, "utf8");
    if (this.#bytes > 0 && this.#bytes + bytes.length > this.#segmentBytesMax) this.#turnOver();
    // Somebody may have cleaned the folder: what goes to a file without a name is gone.
    else if (fstatSync(this.#fd).nlink === 0) this.#open(this.#segment);
    this.#isTorn = true;
    for (let done = 0; done < bytes.length;) {
      const count = writeSync(this.#fd, bytes, done);
      this.#bytes += count;
      done += count;
    }
    this.#isTorn = false;
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** Room first: on a full disk the oldest file is what the newest is written into. */
  #turnOver(): void {
    this.#dropOldest(segmentCount - 1);
    this.#open(segmentOf(this.#folder, this.#segment.number + 1));
    this.#isTorn = false;
  }

  #open(segment: RecorderSegment): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const fd = openSync(segment.path, "a+", 0o600);
    closeSync(this.#fd);
    this.#fd = fd;
    this.#segment = segment;
    this.#bytes = fstatSync(fd).size;
  }

  #dropOldest(left: number): void {
    for (const { path } of listSegments(this.#folder).slice(0, -left)) remove(path);
  }

  #tail(count: number): Buffer {
    const buffer = Buffer.alloc(Math.min(count, this.#bytes));
    const read = readSync(this.#fd, buffer, 0, buffer.length, this.#bytes - buffer.length);
    return buffer.subarray(0, read);
  }
}

const asideSuffix = ".aside";

/** What another version wrote is not ours to add to or to drop; one ring's worth of it is kept for whoever can read it. */
function setAside(folder: string): void {
  const foreign = listSegments(folder).filter(({ path }) => isForeign(path));
  for (const { path } of foreign) renameSync(path, `${path}${asideSuffix}`);
  const aside = readdirSync(folder).filter((name) => name.endsWith(asideSuffix));
  for (const name of aside.toSorted().slice(0, -segmentCount)) remove(join(folder, name));
}

/** By the first line. One that is no line at all is damage, which is read over. */
function isForeign(path: string): boolean {
  const fd = openSync(path, "r");
  try {
    const start = Buffer.alloc(16);
    const read = readSync(fd, start, 0, start.length, 0);
    const version = /^\n?F(\d+) /.exec(start.toString("latin1", 0, read))?.[1];
    return version !== undefined && Number(version) !== lineVersion;
  } finally {
    closeSync(fd);
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
