/** Keeps equal texts once. Without it, each text read from JSON or a socket is a new copy. */
export class SharedTexts {
  readonly #charsMax: number;
  readonly #texts = new Map<string, string>();
  #chars = 0;

  /** Keeps at most `charsMax` characters in all. Beyond that it forgets them all, which costs a few copies. */
  constructor(charsMax: number = usualCharsMax) {
    this.#charsMax = charsMax;
  }

  /** The text itself, or the equal one that was seen first. */
  share<Text extends string>(text: Text): Text {
    const known = this.#texts.get(text);
    if (known !== undefined) return known as Text; // equal, so of the same kind
    if (text.length > this.#charsMax / largestPart) return text;
    if (this.#chars + text.length > this.#charsMax || this.#texts.size >= textsMax) this.#forget();
    this.#texts.set(text, text);
    this.#chars += text.length;
    return text;
  }

  /** How many characters are kept. */
  get chars(): number {
    return this.#chars;
  }

  #forget(): void {
    this.#texts.clear();
    this.#chars = 0;
  }
}

/** The names of some thousand namespaces and nodes. */
const usualCharsMax = 65_536;
const textsMax = 2_000;
/** A single text may take this part, so that a long one does not push out the others. */
const largestPart = 8;
