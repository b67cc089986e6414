/**
 * TypeScript with its comments, and on request the content of its strings, turned into spaces, so that a rule can look
 * for a call without being fooled by prose. Length and line breaks stay, so positions still mean something.
 */
export function blankComments(source: string): string {
  return blank(source, { strings: false });
}

export function blankCommentsAndStrings(source: string): string {
  return blank(source, { strings: true });
}

/** The 1-based line of a position. */
export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let index = 0; index < position; index += 1) if (text.charCodeAt(index) === 10) line += 1;
  return line;
}

interface Piece {
  readonly end: number;
  readonly kind: "comment" | "string" | "code";
}

function blank(source: string, options: { readonly strings: boolean }): string {
  let out = "";
  // Depths of `{` at which a template literal's `${` was opened: its `}` leads back into the template.
  const holes: number[] = [];
  let depth = 0;
  for (let at = 0; at < source.length;) {
    const char = source.charAt(at);
    const closesHole = char === "}" && holes.at(-1) === depth;
    if (closesHole) holes.pop();
    else depth += depthChange(char);
    const piece = closesHole ? templateFrom(source, at) : pieceAt(source, at, out);
    if (opensHole(source, piece, char)) holes.push(depth);
    out += hidden(source.slice(at, piece.end), piece, options);
    at = piece.end;
  }
  return out;
}

function depthChange(char: string): number {
  if (char === "{") return 1;
  return char === "}" ? -1 : 0;
}

/** Whether a piece is part of a template literal and ends with the `${` of a hole. */
function opensHole(source: string, piece: Piece, firstChar: string): boolean {
  const isTemplate = firstChar === "`" || firstChar === "}";
  return piece.kind === "string" && isTemplate && source.startsWith("${", piece.end - 2);
}

function hidden(text: string, piece: Piece, options: { readonly strings: boolean }): string {
  if (piece.kind === "code" || (piece.kind === "string" && !options.strings)) return text;
  const spaces = (part: string): string => part.replaceAll(/[^\n]/g, " ");
  if (piece.kind === "comment" || text.length < 2) return spaces(text);
  return text.charAt(0) + spaces(text.slice(1, -1)) + text.slice(-1);
}

function pieceAt(source: string, at: number, before: string): Piece {
  const two = source.slice(at, at + 2);
  if (two === "//") return { kind: "comment", end: endOr(source.indexOf("\n", at), source) };
  if (two === "/*") return { kind: "comment", end: endOr(source.indexOf("*/", at + 2), source, 2) };
  const char = source.charAt(at);
  if (char === '"' || char === "'") return { kind: "string", end: quotedEnd(source, at) };
  if (char === "`") return templateFrom(source, at);
  if (char === "/" && startsRegex(before)) return { kind: "string", end: regexEnd(source, at) };
  return { kind: "code", end: at + 1 };
}

function endOr(found: number, source: string, extra = 0): number {
  return found === -1 ? source.length : found + extra;
}

function quotedEnd(source: string, at: number): number {
  for (let index = at + 1; index < source.length; index += 1) {
    const char = source.charAt(index);
    if (char === "\\") index += 1;
    else if (char === source.charAt(at)) return index + 1;
    else if (char === "\n") return index;
  }
  return source.length;
}

/** From a backtick, or from the `}` that ends a hole, to the closing backtick or just behind the next `${`. */
function templateFrom(source: string, at: number): Piece {
  for (let index = at + 1; index < source.length; index += 1) {
    const char = source.charAt(index);
    if (char === "\\") index += 1;
    else if (char === "`") return { kind: "string", end: index + 1 };
    else if (char === "$" && source.charAt(index + 1) === "{") return { kind: "string", end: index + 2 };
  }
  return { kind: "string", end: source.length };
}

/** A slash starts a regular expression where an operand is expected, and divides elsewhere. */
function startsRegex(before: string): boolean {
  const code = before.trimEnd();
  return code === "" || /(?:[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|case|typeof|in|of))$/.test(code.slice(-12));
}

function regexEnd(source: string, at: number): number {
  let inClass = false;
  for (let index = at + 1; index < source.length; index += 1) {
    const char = source.charAt(index);
    if (char === "\n") return at + 1;
    if (char === "\\") index += 1;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return index + 1;
  }
  return at + 1;
}
