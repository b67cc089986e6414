import { LeveeError } from "../base/errors.ts";
import { decodeFrame, frameBytesMax, type Frame } from "./frame.ts";

/**
 * Cuts a byte stream into frames. Holds at most one incomplete frame, and refuses an oversized one as soon as its
 * length is known, so a hostile peer costs a header and nothing more.
 */
export class FrameReader {
  #parts: Uint8Array[] = [];
  #size = 0;

  /** Adds what was received and returns the frames that are complete now. Throws LeveeError on a broken stream. */
  push(chunk: Uint8Array): Frame[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    const frames: Frame[] = [];
    for (;;) {
      const length = this.#nextLength();
      if (length === undefined || this.#size < 4 + length) return frames;
      const bytes = this.#take(4 + length);
      frames.push(decodeFrame(bytes.subarray(4)));
    }
  }

  /** Whether the stream ended inside a frame. */
  get isPartial(): boolean {
    return this.#size > 0;
  }

  #nextLength(): number | undefined {
    if (this.#size < 4) return undefined;
    this.#join();
    const length = Buffer.from(this.#first().buffer, this.#first().byteOffset, 4).readUInt32LE(0);
    if (length === 0 || length > frameBytesMax) {
      throw new LeveeError(
        "protocol-violated",
        `Cannot read a frame as its length must be between 1 and ${frameBytesMax}: current value is ${length}`,
      );
    }
    return length;
  }

  #take(size: number): Uint8Array {
    this.#join();
    const all = this.#first();
    const rest = all.subarray(size);
    // The rest is copied so that a large frame's memory is not pinned by a few bytes of the next.
    this.#parts = rest.length > 0 ? [Uint8Array.from(rest)] : [];
    this.#size = rest.length;
    return all.subarray(0, size);
  }

  #first(): Uint8Array {
    return this.#parts[0] ?? new Uint8Array(0);
  }

  /** One contiguous buffer; joined only when the header or the whole frame is there, so a slow sender is not quadratic. */
  #join(): void {
    if (this.#parts.length < 2) return;
    if (this.#parts.length > 0 && this.#first().length >= 4 && this.#size < 4 + this.#declared()) return;
    this.#parts = [Buffer.concat(this.#parts)];
  }

  #declared(): number {
    const first = this.#first();
    return Buffer.from(first.buffer, first.byteOffset, 4).readUInt32LE(0);
  }
}
