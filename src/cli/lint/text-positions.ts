/** Line and column, both from 1, of an offset in a text. */
export class TextPositions {
  readonly #starts: readonly number[];
  readonly #length: number;

  constructor(text: string) {
    this.#starts = [0, ...Array.from(text.matchAll(/\n/gu), ({ index }) => index + 1)];
    this.#length = text.length;
  }

  at(offset: number): { readonly line: number; readonly column: number } {
    const place = Math.max(0, Math.min(offset, this.#length));
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] ?? 0) <= place) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: place - (this.#starts[low] ?? 0) + 1 };
  }
}
