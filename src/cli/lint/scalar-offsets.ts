/** How a text is written in YAML; the names are the parser's. */
type ScalarStyle = "BLOCK_FOLDED" | "BLOCK_LITERAL" | "PLAIN" | "QUOTE_DOUBLE" | "QUOTE_SINGLE";

/**
 * Where each character of a YAML text stands in the file. YAML changes white space only (indents, folded lines) and, in
 * quotes, escapes, so the n-th other character of the value is the n-th other character of the source.
 */
export class ScalarOffsets {
  readonly #value: string;
  readonly #solid: readonly number[];
  readonly #end: number;
  readonly #written: WrittenScalar;

  constructor(value: string, written: WrittenScalar) {
    this.#written = written;
    this.#value = value;
    this.#solid = solidOffsets(written.source, written.style).map((offset) => offset + written.start);
    this.#end = written.start + written.source.length;
  }

  /** The offset in the file of a character of the value; of the next one that is no white space. */
  at(offset: number): number {
    let count = 0;
    for (let index = 0; index < Math.min(offset, this.#value.length); index += 1)
      if (isSolid(this.#value, index)) count += 1;
    return this.#solid[count] ?? this.#end;
  }

  /** The offset just past a character of the value, which may be an escape. */
  past(offset: number): number {
    const at = this.at(offset);
    const { source, start, style } = this.#written;
    if (style !== "QUOTE_DOUBLE" || source[at - start] !== "\\") return at + 1;
    return at + 2 + (hexDigits[source[at - start + 1] ?? ""] ?? 0);
  }
}

interface WrittenScalar {
  /** The scalar as it is written, with quotes or header. */
  readonly source: string;
  /** Its offset in the document. */
  readonly start: number;
  readonly style: ScalarStyle;
}

function solidOffsets(source: string, style: ScalarStyle): readonly number[] {
  switch (style) {
    case "QUOTE_DOUBLE":
      return inDoubleQuotes(source);
    case "QUOTE_SINGLE":
      return inSingleQuotes(source);
    case "PLAIN":
      return plainFrom(source, 0);
    case "BLOCK_FOLDED":
    case "BLOCK_LITERAL": {
      // The first line is the header: `|`, `>-`, perhaps a comment.
      const newline = source.indexOf("\n");
      return newline < 0 ? [] : plainFrom(source, newline);
    }
  }
}

function plainFrom(source: string, from: number): readonly number[] {
  const offsets: number[] = [];
  for (let index = from; index < source.length; index += 1) if (isSolid(source, index)) offsets.push(index);
  return offsets;
}

/** `''` is one quote. */
function inSingleQuotes(source: string): readonly number[] {
  const offsets: number[] = [];
  for (let index = 1; index < source.length - 1; index += 1) {
    if (isSolid(source, index)) offsets.push(index);
    if (source[index] === "'") index += 1;
  }
  return offsets;
}

/** The lengths of `\x41`, `\u0041` and `\U00000041`; every other escape has one letter. */
const hexDigits: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

function inDoubleQuotes(source: string): readonly number[] {
  const offsets: number[] = [];
  for (let index = 1; index < source.length - 1; index += 1) {
    if (source[index] !== "\\") {
      if (isSolid(source, index)) offsets.push(index);
      continue;
    }
    const kind = source[index + 1] ?? "";
    // These stand for white space; a line break after a backslash stands for nothing.
    if (!/[nrt \n\r\t]/u.test(kind)) offsets.push(index);
    index += 1 + (hexDigits[kind] ?? 0);
  }
  return offsets;
}

function isSolid(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09;
}
