/** A text whose quoted lines were moved to the right, and by how much each line was. */
export interface IndentedText {
  readonly text: string;
  /** By line, from 0. */
  readonly added: ReadonlyMap<number, number>;
}

/**
 * A text in quotes that goes on below the column of its key breaks YAML's rules, but the decoders of kubectl and the API
 * server take it, and many network definitions end with such a `}'`. Our parser refuses it, so these lines are moved.
 */
export function indentQuotes(text: string): IndentedText {
  const added = new Map<number, number>();
  let open: OpenQuote | undefined;
  const lines = text.split("\n").map((line, at) => {
    if (open === undefined) {
      open = openedBy(line);
      return line;
    }
    const { indent, quote } = open;
    if (closes(line, quote)) open = undefined;
    const own = line.length - line.trimStart().length;
    if (own > indent || line.trim() === "") return line;
    added.set(at, indent + 1 - own);
    return `${" ".repeat(indent + 1 - own)}${line}`;
  });
  return { text: lines.join("\n"), added };
}

interface OpenQuote {
  /** The column of the key. */
  readonly indent: number;
  readonly quote: "'" | '"';
}

/** `key: '…` without the closing quote on the line. */
function openedBy(line: string): OpenQuote | undefined {
  const match = /^((?:\s|- )*)[\w./-]+:\s+(['"])/u.exec(line);
  if (match === null) return undefined;
  const quote = match[2] === "'" ? "'" : '"';
  return closes(line.slice(match[0].length), quote) ? undefined : { indent: (match[1] ?? "").length, quote };
}

/** Whether a quote ends the text: one that is neither doubled (') nor escaped ("). */
function closes(line: string, quote: "'" | '"'): boolean {
  return quote === "'" ? line.replaceAll("''", "").includes("'") : line.replaceAll(/\\./gu, "").includes('"');
}
