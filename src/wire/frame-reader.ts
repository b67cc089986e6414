import { LeveeError } from "../base/errors.ts";
import { decodeFrame, frameBytesMax, uint32, type Frame } from "./frame.ts";

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
    // Nearly every frame comes in one piece and alone; only one that does not is put together.
    if (this.#size === 0) return this.#cut(chunk);
    this.#append(chunk);
    return this.#cut(this.#held.subarray(0, this.#size));
  }

  /** Whether the stream ended inside a frame. */
  get isPartial(): boolean {
    return this.#size > 0;
  }

  /** Takes the complete frames off the front and holds the rest. */
  #cut(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    let at = 0;
    for (let end = frameEnd(bytes, at); end <= bytes.length; end = frameEnd(bytes, at)) {
      // A copy, because a frame's fields point into it and may be kept for long.
      frames.push(decodeFrame(Uint8Array.prototype.slice.call(bytes, at + lengthBytes, end)));
      at = end;
    }
    this.#hold(bytes, at);
    return frames;
  }

  #append(chunk: Uint8Array): void {
    const size = this.#size + chunk.length;
    if (size > this.#held.length) {
      const larger = Buffer.alloc(Math.max(size, 2 * this.#held.length));
      larger.set(this.#held.subarray(0, this.#size));
      this.#held = larger;
    }
    this.#held.set(chunk, this.#size);
    this.#size = size;
  }

  #hold(bytes: Uint8Array, from: number): void {
    // What has just been appended to and is still no whole frame stays where it is.
    if (from === 0 && this.#size > 0) return;
    // The rest is copied so that a large frame's memory is not pinned by a few bytes of the next.
    this.#held = from === bytes.length ? empty : Buffer.from(bytes.subarray(from));
    this.#size = this.#held.length;
  }
}

/** Where the frame that starts at `at` ends; out of reach while even its length is not known. */
function frameEnd(bytes: Uint8Array, at: number): number {
  if (bytes.length - at < lengthBytes) return Number.POSITIVE_INFINITY;
  const length = uint32(bytes, at);
  if (length === 0 || length > frameBytesMax) {
    throw new LeveeError(
      "protocol-violated",
      `Cannot read a frame as its length must be between 1 and ${frameBytesMax}: current value is ${length}`,
    );
  }
  return at + lengthBytes + length;
}
