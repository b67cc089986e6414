import { disk } from "../../base/disk/disk.ts";
import { errnoOf } from "../../base/errors.ts";
import { readLines, type LineLetter, type Segment } from "./checked-line.ts";

/** Small beside the daemon's memory, and large beside a line. */
const usualPartBytes = 262_144;
const newlineByte = 0x0a;

/** A file of checked lines, read in parts: a journal may be longer than the memory that is left. */
export class LineFile implements Disposable {
  readonly #fd: number;
  readonly #partBytes: number;
  /** With the zeros at its end. */
  readonly fileBytes: number;
  /** Without them: the room that a killed daemon leaves behind the last line. */
  readonly linesBytes: number;

  private constructor(fd: number, partBytes: number) {
    this.#fd = fd;
    this.#partBytes = partBytes;
    this.fileBytes = disk.fstatSync(fd).size;
    this.linesBytes = this.#withoutZeros();
  }

  /** Undefined when there is no such file. */
  static open(path: string, partBytes = usualPartBytes): LineFile | undefined {
    const fd = openIfThere(path);
    if (fd === undefined) return undefined;
    try {
      return new LineFile(fd, partBytes);
    } catch (cause) {
      disk.closeSync(fd);
      throw cause;
    }
  }

  /** The segments up to `endBytes`. A part is done with before the next one is read. */
  *segments(letter: LineLetter, endBytes: number): Generator<Segment> {
    let base = 0;
    // One for all parts: segments hold copies, and a collector that is late must not let a hundred of them pile up.
    let buffer = Buffer.allocUnsafe(this.#partBytes);
    while (base < endBytes) {
      const part = this.#readInto(buffer.subarray(0, endBytes - base), base);
      if (part.length === 0) return; // the file became shorter
      const isLast = base + part.length >= endBytes;
      const wholeBytes = isLast ? part.length : part.lastIndexOf(newlineByte) + 1;
      // A line that is longer than the part, or damage without a newline.
      if (wholeBytes === 0) buffer = Buffer.allocUnsafe(buffer.length * 2);
      for (const segment of readLines(part.subarray(0, wholeBytes), letter))
        yield base === 0 ? segment : { ...segment, offset: base + segment.offset };
      base += wholeBytes;
    }
  }

  /** Fewer bytes only at the end of the file. */
  read(offset: number, length: number): Buffer {
    return this.#readInto(Buffer.allocUnsafe(length), offset);
  }

  [Symbol.dispose](): void {
    disk.closeSync(this.#fd);
  }

  #readInto(buffer: Buffer, offset: number): Buffer {
    let done = 0;
    while (done < buffer.length) {
      const count = disk.readSync(this.#fd, buffer, done, buffer.length - done, offset + done);
      if (count === 0) break;
      done += count;
    }
    return buffer.subarray(0, done);
  }

  #withoutZeros(): number {
    let end = this.fileBytes;
    while (end > 0) {
      const from = Math.max(0, end - this.#partBytes);
      const part = this.read(from, end - from);
      let used = part.length;
      while (used > 0 && part[used - 1] === 0) used -= 1;
      if (used > 0) return from + used;
      end = from;
    }
    return 0;
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return disk.openSync(path, "r");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ENOTDIR") return undefined;
    throw cause;
  }
}
