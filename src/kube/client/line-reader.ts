const newline = 0x0a;

export class LineTooLong extends Error {}

/** Splits a stream of bytes into lines. It decodes only whole lines, because two packets may split a character. */
export class LineReader {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #partBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Yields the lines that are complete now. Throws when a line is longer than allowed. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#take();
      if (line !== "") yield line;
    }
    this.#keep(chunk.subarray(start));
  }

  /** How many bytes of an unfinished line it has. */
  get pendingBytes(): number {
    return this.#partBytes;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#partBytes += part.length;
    if (this.#partBytes > this.#bytesMax) throw new LineTooLong(`a line has more than ${this.#bytesMax} bytes`);
    this.#parts.push(part);
  }

  #take(): string {
    const [first] = this.#parts;
    const line = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    return line.toString("utf8");
  }
}
