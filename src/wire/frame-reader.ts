import { LeveeError } from "../base/errors.ts";
import { decodeFrame, frameBytesMax, type Frame } from "./frame.ts";

const lengthBytes = 4;
const empty = Buffer.alloc(0);

/**
 * Cuts a byte stream into frames. Holds at most one incomplete frame, in one piece however small the parts it came in,
 * and refuses an oversized one as soon as its length is known, so a hostile peer costs what it has sent and no more.
 */
export class FrameReader {
  /** Grows by doubling, so that a frame that comes byte by byte is not copied for each of them. */
  #held: Buffer = empty;
  #size = 0;

  /** Adds what was received and returns the frames that are complete now. Throws LeveeError on a broken stream. */
  push(chunk: Uint8Array): Frame[] {
    this.#hold(chunk);
    const frames: Frame[] = [];
    let at = 0;
    for (let end = this.#frameEnd(at); end <= this.#size; end = this.#frameEnd(at)) {
      // A copy, because a frame's fields point into it and may be kept for long.
      frames.push(decodeFrame(Uint8Array.prototype.slice.call(this.#held, at + lengthBytes, end)));
      at = end;
    }
    this.#drop(at);
    return frames;
  }

  /** Whether the stream ended inside a frame. */
  get isPartial(): boolean {
    return this.#size > 0;
  }

  /** Where the frame that starts at `at` ends; out of reach while even its length is not known. */
  #frameEnd(at: number): number {
    if (this.#size - at < lengthBytes) return Number.POSITIVE_INFINITY;
    const length = this.#held.readUInt32LE(at);
    if (length === 0 || length > frameBytesMax) {
      throw new LeveeError(
        "protocol-violated",
        `Cannot read a frame as its length must be between 1 and ${frameBytesMax}: current value is ${length}`,
      );
    }
    return at + lengthBytes + length;
  }

  #hold(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#held.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#size);
    this.#size = size;
  }

  #drop(count: number): void {
    if (count === 0) return;
    // The rest is copied so that a large frame's memory is not pinned by a few bytes of the next.
    this.#held = count === this.#size ? empty : Buffer.from(this.#held.subarray(count, this.#size));
    this.#size -= count;
  }
}
