/**
 * The JSON grammar (RFC 8259) as offsets into a text: finds where a value ends, or where and why the text is invalid.
 */

/** No CNI configuration is nested deeper, and the scanner is recursive. */
export const jsonDepthMax = 64;

/** Where a text stops being JSON, in the words of Go's decoder, because users search for those sentences. */
export class JsonGrammarError extends Error {
  override readonly name = "JsonGrammarError";
  /** In UTF-16 units of the text. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Checks that `text` is exactly one JSON value with white space around it. */
export function checkGrammar(text: string): void {
  if (isPlainlyJson(text)) return;
  const end = skipSpace(text, skipValue(text, skipSpace(text, 0), 0));
  if (end < text.length) throw unexpected(text, end, "after top-level value");
}

/**
 * The engine's own parser has the same grammar and is many times faster, but it has no depth limit. The caller scans a
 * text that has more brackets than the limit, and a text that the parser refuses.
 */
function isPlainlyJson(text: string): boolean {
  if (!hasFewBrackets(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The caller's scan finds the place and the reason.
    return false;
  }
}

/** Whether the text opens too few objects and arrays to exceed the depth limit, even if all of them are nested. */
function hasFewBrackets(text: string): boolean {
  let left = jsonDepthMax;
  for (const open of ["{", "["]) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1)) {
      if (left === 0) return false;
      left -= 1;
    }
  }
  return true;
}

/** The offset just past the value that starts at `at`. */
export function skipValue(text: string, at: number, depth: number): number {
  switch (text[at]) {
    case "{":
      return skipObject(text, at, depth);
    case "[":
      return skipArray(text, at, depth);
    case '"':
      return skipString(text, at);
    case "t":
      return skipLiteral(text, at, "true");
    case "f":
      return skipLiteral(text, at, "false");
    case "n":
      return skipLiteral(text, at, "null");
    default:
      return skipNumber(text, at);
  }
}

/** The offset of the first character at or after `at` that is not white space. */
export function skipSpace(text: string, at: number): number {
  if (text.charCodeAt(at) > 0x20) return at;
  let offset = at;
  while (isSpace(text.charCodeAt(offset))) offset += 1;
  return offset;
}

/** The offset just past the string that starts at `at`. */
function skipString(text: string, at: number): number {
  // Fast path: nearly all strings have no escapes and no mistakes.
  const quote = text.indexOf('"', at + 1);
  if (quote > 0 && !notPlain.test(text.slice(at + 1, quote))) return quote + 1;
  let offset = at + 1;
  for (;;) {
    const code = text.charCodeAt(offset);
    if (code === 0x22) return offset + 1;
    // The code is NaN at the end of the text. Control characters must be escaped.
    if (!(code >= 0x20)) throw unexpected(text, offset, "in string literal");
    offset = code === 0x5c ? skipEscape(text, offset) : offset + 1;
  }
}

const notPlain = /[\u0000-\u001f\\]/;

/** Visits the members of the object that starts at `at`; returns the offset past it. */
export function skipObject(text: string, at: number, depth: number, visit?: MemberVisitor): number {
  checkDepth(at, depth);
  let offset = skipSpace(text, at + 1);
  if (text[offset] === "}") return offset + 1;
  for (;;) {
    if (text[offset] !== '"') throw unexpected(text, offset, "looking for beginning of object key string");
    const keyEnd = skipString(text, offset);
    const colon = skipSpace(text, keyEnd);
    if (text[colon] !== ":") throw unexpected(text, colon, "after object key");
    const valueStart = skipSpace(text, colon + 1);
    const valueEnd = skipValue(text, valueStart, depth + 1);
    visit?.(offset, keyEnd, valueStart, valueEnd);
    const next = skipSpace(text, valueEnd);
    if (text[next] === "}") return next + 1;
    if (text[next] !== ",") throw unexpected(text, next, "after object key:value pair");
    offset = skipSpace(text, next + 1);
  }
}

/** Visits the elements of the array that starts at `at`; returns the offset past it. */
export function skipArray(text: string, at: number, depth: number, visit?: ElementVisitor): number {
  checkDepth(at, depth);
  let offset = skipSpace(text, at + 1);
  if (text[offset] === "]") return offset + 1;
  for (;;) {
    const end = skipValue(text, offset, depth + 1);
    visit?.(offset, end);
    const next = skipSpace(text, end);
    if (text[next] === "]") return next + 1;
    if (text[next] !== ",") throw unexpected(text, next, "after array element");
    offset = skipSpace(text, next + 1);
  }
}

type MemberVisitor = (keyStart: number, keyEnd: number, valueStart: number, valueEnd: number) => void;
type ElementVisitor = (start: number, end: number) => void;

function checkDepth(at: number, depth: number): void {
  if (depth >= jsonDepthMax) throw new JsonGrammarError(`more than ${jsonDepthMax} levels deep`, at);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const hexDigits = /^[0-9a-fA-F]*/;

function skipEscape(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === "u") {
    const digits = hexDigits.exec(text.slice(at + 2, at + 6))?.[0].length ?? 0;
    if (digits < 4) throw unexpected(text, at + 2 + digits, "in \\u hexadecimal character escape");
    return at + 6;
  }
  if (kind === undefined || !'"\\/bfnrt'.includes(kind)) throw unexpected(text, at + 1, "in string escape code");
  return at + 2;
}

function skipLiteral(text: string, at: number, literal: string): number {
  for (let index = 1; index < literal.length; index += 1) {
    if (text[at + index] !== literal[index]) {
      throw unexpected(text, at + index, `in literal ${literal} (expecting '${literal[index] ?? ""}')`);
    }
  }
  return at + literal.length;
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function skipNumber(text: string, at: number): number {
  numberPattern.lastIndex = at;
  if (numberPattern.test(text)) return refuseHalf(text, at, numberPattern.lastIndex);
  if (text[at] === "-") throw unexpected(text, at + 1, "in numeric literal");
  throw unexpected(text, at, "looking for beginning of value");
}

/** Refuses a number whose point or exponent has no digit after it. */
function refuseHalf(text: string, at: number, end: number): number {
  const next = text[end];
  if (next !== "." && next !== "e" && next !== "E") return end;
  const number = text.slice(at, end);
  if (next === "." && /^[-0-9]+$/.test(number))
    throw unexpected(text, end + 1, "after decimal point in numeric literal");
  if (next === "." || /[eE]/.test(number)) return end;
  const isSigned = text[end + 1] === "+" || text[end + 1] === "-";
  throw unexpected(text, end + (isSigned ? 2 : 1), "in exponent of numeric literal");
}

function unexpected(text: string, at: number, where: string): JsonGrammarError {
  const point = text.codePointAt(at);
  if (point === undefined) return new JsonGrammarError("unexpected end of JSON input", text.length);
  return new JsonGrammarError(`invalid character ${quoteCharacter(point)} ${where}`, at);
}

const goEscapes: ReadonlyMap<number, string> = new Map(
  Array.from("abtnvfr", (letter, index): [number, string] => [index + 7, `\\${letter}`]),
);

function quoteCharacter(point: number): string {
  if (point === 0x27) return String.raw`'\''`;
  if (point === 0x22) return `'"'`;
  // Control characters and lone surrogates must not reach a log line unescaped.
  if (point <= 0x1f || point === 0x7f)
    return `'${goEscapes.get(point) ?? `\\x${point.toString(16).padStart(2, "0")}`}'`;
  const isSurrogate = point >= 0xd800 && point <= 0xdfff;
  return isSurrogate ? `'\\u${point.toString(16)}'` : `'${String.fromCodePoint(point)}'`;
}
