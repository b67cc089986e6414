import type { Seeded } from "../time/seeded.ts";

/** The smallest unit that a disk writes. */
const sectorBytes = 512;
const blockBytes = 4_096;
/** Most disks lose the end of what was not synced. Some write its sectors in any order. */
const inOrderShare = 0.7;

interface Range {
  readonly from: number;
  readonly to: number;
}

/** A file's content twice: as every process sees it, and as the disk has it after a power cut. */
export class SimInode {
  readonly number: bigint;
  mtimeMs: number;
  links = 1;
  #content = Buffer.alloc(0);
  #size = 0;
  #durable = Buffer.alloc(0);
  #durableSize = 0;
  /** Written since the last sync. */
  #dirty: Range[] = [];

  constructor(number: bigint, mtimeMs: number) {
    this.number = number;
    this.mtimeMs = mtimeMs;
  }

  get size(): number {
    return this.#size;
  }

  /** The disk blocks that it takes. */
  static blocksOf(size: number): number {
    return Math.ceil(size / blockBytes) * blockBytes;
  }

  get content(): Buffer {
    return this.#content.subarray(0, this.#size);
  }

  /** The bytes that survive a power cut at this moment, whatever happens to the others. */
  get durable(): Buffer {
    return this.#durable.subarray(0, this.#durableSize);
  }

  read(buffer: Uint8Array, position: number): number {
    const part = this.content.subarray(position, position + buffer.length);
    buffer.set(part);
    return part.length;
  }

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    this.#content = grown(this.#content, end);
    this.#content.set(bytes, position);
    this.#size = Math.max(this.#size, end);
    this.#dirty.push({ from: position, to: end });
  }

  truncate(size: number): void {
    this.#content = grown(this.#content, size);
    if (size < this.#size) this.#content.fill(0, size, this.#size);
    this.#size = size;
    this.#dirty = this.#dirty
      .filter(({ from }) => from < size)
      .map(({ from, to }) => ({ from, to: Math.min(to, size) }));
  }

  /**
   * Takes the present content, to be made durable by the returned function. Later writes are not part of it. After a
   * sync that failed, Linux forgets what was not written.
   */
  beginSync(): (isDone: boolean) => void {
    const ranges = new Set(this.#dirty);
    const taken = this.#dirty.map(({ from, to }) => ({ from, bytes: Buffer.from(this.#content.subarray(from, to)) }));
    const size = this.#size;
    return (isDone) => {
      this.#dirty = this.#dirty.filter((range) => !ranges.has(range));
      if (!isDone) return;
      this.#durable = grown(this.#durable, size);
      if (size < this.#durableSize) this.#durable.fill(0, size, this.#durableSize);
      this.#durableSize = size;
      for (const { from, bytes } of taken) this.#durable.set(bytes.subarray(0, Math.max(0, size - from)), from);
    };
  }

  /** The power is cut: unsynced sectors may or may not be there. */
  cutPower(seeded: Seeded): void {
    const after = Buffer.from(this.durable);
    let kept = grown(after, after.length);
    let size = after.length;
    const isInOrder = seeded.chance(inOrderShare);
    const stopAt = seeded.next();
    this.#dirty.forEach(({ from, to }, index) => {
      for (let at = from - (from % sectorBytes); at < to; at += sectorBytes) {
        const share = (index + (at - from) / Math.max(1, to - from)) / this.#dirty.length;
        if (isInOrder ? share > stopAt : seeded.chance(0.5)) continue;
        const [begin, end] = [Math.max(at, from), Math.min(at + sectorBytes, to)];
        kept = grown(kept, end);
        kept.set(this.#content.subarray(begin, end), begin);
        size = Math.max(size, end);
      }
    });
    this.#content = Buffer.from(kept.subarray(0, size));
    this.#durable = Buffer.from(this.#content);
    this.#size = size;
    this.#durableSize = size;
    this.#dirty = [];
  }
}

/** With room for `size` bytes; what is new is zeros. */
function grown(buffer: Buffer<ArrayBuffer>, size: number): Buffer<ArrayBuffer> {
  if (size <= buffer.length) return buffer;
  const larger = Buffer.alloc(Math.max(size, 2 * buffer.length, sectorBytes));
  larger.set(buffer);
  return larger;
}
