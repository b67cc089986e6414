/** etcd takes at most 1.5 MiB per object, and JSON writes a character such as `<` as six bytes. */
const bytesMax = 12_582_912;
/** How deep an item of the list begins: inside the list, inside its `items`. */
const itemsDepth = 2;

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

export class ItemTooLong extends Error {}

/**
 * Splits the JSON of a Kubernetes list into its items while it arrives. The server's cache answers with the whole list at
 * once, and the daemon has memory for a few items only.
 */
export class ItemReader {
  readonly #item = new KeptBytes();
  /** The list without its items. */
  readonly #frame = new KeptBytes();
  #depth = 0;
  #isInItems = false;
  #isInString = false;
  /** The last chunk ended with the backslash of an escape. */
  #isEscaped = false;

  /** Yields the items that are complete now. Throws when one is longer than allowed. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let at = this.#nextBracket(chunk, 0); at < chunk.length; at = this.#nextBracket(chunk, at + 1)) {
      const step = this.#step(chunk[at] ?? 0);
      if (step === "item begins" || step === "items end") start = at;
      else if (step === "items begin?") {
        this.#frame.add(chunk.subarray(start, at + 1));
        start = at + 1;
        this.#isInItems = /"items"\s*:\s*\[$/.test(this.#frame.tail());
      } else if (step === "item ends") {
        this.#item.add(chunk.subarray(start, at + 1));
        yield this.#item.take();
      }
    }
    this.#keep(chunk.subarray(start));
  }

  /** Goes into the bracket or out of it. */
  #step(bracket: number): "item begins" | "item ends" | "items begin?" | "items end" | undefined {
    const isOpening = bracket === openBrace || bracket === openBracket;
    this.#depth += isOpening ? 1 : -1;
    if (!this.#isInItems) return bracket === openBracket && this.#depth === itemsDepth ? "items begin?" : undefined;
    if (isOpening) return this.#depth === itemsDepth + 1 ? "item begins" : undefined;
    if (this.#depth === itemsDepth) return "item ends";
    if (this.#depth > itemsDepth) return undefined;
    this.#isInItems = false;
    return "items end";
  }

  get isWhole(): boolean {
    return this.#depth === 0 && !this.#isInString;
  }

  /** The list without its items, once it is whole. */
  frame(): string {
    return this.#frame.take();
  }

  #keep(rest: Buffer): void {
    if (!this.#isInItems) this.#frame.add(rest);
    else if (this.#depth > itemsDepth) this.#item.add(rest);
  }

  /** The place of the next bracket or brace outside of a string; the chunk's length when there is none. */
  #nextBracket(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      if (this.#isInString) at = this.#endString(chunk, at);
      else {
        const byte = chunk[at];
        if (byte === openBrace || byte === closeBrace || byte === openBracket || byte === closeBracket) return at;
        this.#isInString = byte === quote;
        at += 1;
      }
    }
    return at;
  }

  /** The place behind the string. Most of a list is strings, and `indexOf` is far faster than a loop with the JIT off. */
  #endString(chunk: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (;;) {
      const found = chunk.indexOf(quote, at);
      const end = found < 0 ? chunk.length : found;
      const isEscaped = backslashesBefore(chunk, end, at) % 2 === 1;
      if (found < 0) {
        this.#isEscaped = isEscaped;
        return end;
      }
      at = found + 1;
      if (isEscaped) continue;
      this.#isInString = false;
      return at;
    }
  }
}

/** How many backslashes in a row end before this place. */
function backslashesBefore(chunk: Buffer, end: number, from: number): number {
  let at = end;
  while (at > from && chunk[at - 1] === backslash) at -= 1;
  return end - at;
}

class KeptBytes {
  #parts: Buffer[] = [];
  #bytes = 0;

  add(part: Buffer): void {
    if (part.length === 0) return;
    this.#bytes += part.length;
    if (this.#bytes > bytesMax) throw new ItemTooLong(`an object has more than ${bytesMax} bytes`);
    this.#parts.push(part);
  }

  /** The last characters. */
  tail(): string {
    return Buffer.concat(this.#parts).subarray(-64).toString("latin1");
  }

  take(): string {
    const [only] = this.#parts;
    const whole = this.#parts.length === 1 && only !== undefined ? only : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString("utf8");
  }
}
