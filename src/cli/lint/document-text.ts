import { indentQuotes } from "./deep-quotes.ts";
import { TextPositions } from "./text-positions.ts";
import type { YamlPart } from "./yaml-documents.ts";

/** The text of a document as it is parsed, and where its characters stand in the file. */
export interface DocumentText {
  readonly text: string;
  /** Line and column in the file of an offset in `text`. */
  at(offset: number): { readonly line: number; readonly column: number };
}

export function asWritten(part: YamlPart, file: TextPositions): DocumentText {
  return { text: part.text, at: (offset) => file.at(part.start + offset) };
}

/** With quoted lines moved to the right where YAML wants them; the places stay those of the file. */
export function withIndentedQuotes(part: YamlPart, file: TextPositions): DocumentText {
  const { text, added } = indentQuotes(part.text);
  const own = new TextPositions(text);
  const first = file.at(part.start).line;
  return {
    text,
    at: (offset) => {
      const { line, column } = own.at(offset);
      return { line: first + line - 1, column: Math.max(1, column - (added.get(line - 1) ?? 0)) };
    },
  };
}
