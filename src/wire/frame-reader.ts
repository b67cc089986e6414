import { LeveeError } from "../base/errors.ts";
import { decodeFrame, frameBytesMax, uint32, type Frame } from "./frame.ts";

const lengthBytes = 4;
const empty = Buffer.alloc(0);

/**
 * Cuts a byte stream into frames. It holds at most one incomplete frame, in one buffer, and refuses an oversized frame
 * as soon as its length is known. So a hostile peer costs no more memory than it has sent.
 */
export class FrameReader {
  /** Grows by doubling, so that a frame that arrives byte by byte is not copied for each byte. */
  #held: Buffer = empty;
  #size = 0;

  /** Adds received bytes and returns the frames that are complete now. Throws LeveeError on a broken stream. */
  push(chunk: Uint8Array): Frame[] {
    // Fast path: nearly every frame arrives alone and in one piece.
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
      frames.push(decodeFrame(copyOf(bytes, at + lengthBytes, end)));
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
    // The buffer still holds no whole frame, so it stays as it is.
    if (from === 0 && this.#size > 0) return;
    // A copy, so that a few bytes of the next frame do not keep a large frame in memory.
    this.#held = from === bytes.length ? empty : Buffer.from(bytes.subarray(from));
    this.#size = this.#held.length;
  }
}

/** Memory of its own: a part of the engine's shared pool would keep the whole of it as long as the frame. */
function copyOf(bytes: Uint8Array, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(to - from);
  if (Buffer.isBuffer(bytes)) bytes.copy(copy, 0, from, to);
  else copy.set(bytes.subarray(from, to));
  return copy;
}

/** Where the frame that starts at `at` ends; infinity while its length is unknown. */
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
