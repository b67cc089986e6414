/** Texts that many things have in common, kept once: whoever reads them from JSON or a socket makes a new one each time. */
export class SharedTexts {
  readonly #charsMax: number;
  readonly #texts = new Map<string, string>();
  #chars = 0;

  /** So many characters in all are held here; forgetting them, once there are more, costs a few copies. */
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

  /** How much is held. */
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
/** A single text may take this part: a long one that nobody shares must not push out the others. */
const largestPart = 8;
