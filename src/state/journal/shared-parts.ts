/** The networks of a node, and some pods with parts of their own. They are kept while the journal is read. */
const partsMax = 256;
/** A longer part belongs to one pod. */
const keyCharsMax = 8_192;

/** Keeps equal values once. They must never be changed. */
export class SharedParts<Part extends object> {
  readonly #parts = new Map<string, Part>();

  /** The value itself, or the equal one that was seen first. */
  share(part: Part): Part {
    const key = JSON.stringify(part);
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    if (key.length > keyCharsMax) return part;
    // As for shared texts: forgetting them all costs a few copies.
    if (this.#parts.size >= partsMax) this.#parts.clear();
    this.#parts.set(key, part);
    return part;
  }

  clear(): void {
    this.#parts.clear();
  }
}
