import { parseSync, Visitor, type ParseResult } from "oxc-parser";

const parsed = new Map<string, ParseResult>();

/** The console's page is written with JSX, everything else without. */
export type Language = "ts" | "tsx";

/** The syntax tree of a TypeScript file; several rules look at the same text. */
export function parse(source: string, language: Language = "ts"): ParseResult {
  const known = parsed.get(source);
  if (known !== undefined) return known;
  const result = parseSync(`source.${language}`, source, { sourceType: "module" });
  const error = result.errors[0];
  // With half a tree a rule would find nothing and pass.
  if (error !== undefined) throw new Error(`Cannot parse TypeScript: ${error.message}\n${error.codeframe ?? ""}`);
  parsed.set(source, result);
  return result;
}

/**
 * TypeScript with spaces in place of its comments and the content of its strings, so that a rule finds calls and no
 * prose. Length and line breaks stay, so that positions stay valid.
 */
export function blankCommentsAndStrings(source: string, language: Language = "ts"): string {
  const { program, comments } = parse(source, language);
  const spans: { readonly start: number; readonly end: number }[] = [...comments];
  new Visitor({
    Literal({ value, start, end }) {
      if (typeof value === "string" || value instanceof RegExp) spans.push({ start: start + 1, end: end - 1 });
    },
    TemplateElement: (element) => void spans.push(element),
    JSXText: (text) => void spans.push(text),
  }).visit(program);
  let blank = "";
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    blank += source.slice(blank.length, start) + source.slice(start, end).replaceAll(/[^\n]/g, " ");
  }
  return blank + source.slice(blank.length);
}

/** The 1-based line of a position. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let index = 0; index < position; index += 1) if (text.charCodeAt(index) === 10) line += 1;
  return line;
}
