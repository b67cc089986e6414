import { crc32 } from "./crc32.ts";

/**
 * Self-delimiting lines: `<letter><version> <CRC-32, 8 hex digits> <body>\n`. The body is one line of JSON.
 * The checksum covers letter, version and body, so that a damaged version digit does not look like a newer format.
 */
export type LineLetter = "L" | "C" | "F";

/** The version of the lines this build writes, and the only one it reads. */
export const lineVersion = 1;

export function encodeLine(letter: LineLetter, body: string): string {
  return `${letter}${lineVersion} ${hex(crc32(body, prefixSum(letter, lineVersion)))} ${body}\n`;
}

export type Segment = GoodLine | DamagedBytes | TornTail;

export interface GoodLine {
  readonly kind: "line";
  readonly version: number;
  readonly body: string;
  readonly offset: number;
  /** With its newline. */
  readonly bytes: number;
}

/** Bytes that are not a valid line. */
export interface DamagedBytes {
  readonly kind: "damaged";
  readonly offset: number;
  readonly content: Buffer;
}

/** The beginning of a line whose writer died. The writer never acknowledged the line. */
interface TornTail {
  readonly kind: "torn";
  readonly offset: number;
  readonly bytes: number;
}

/** Splits a file into its lines. Damage ends at the next newline, and the lines after it are read as usual. */
export function* readLines(file: Buffer, letter: LineLetter): Generator<Segment> {
  let start = 0;
  while (start < file.length) {
    const newline = file.indexOf(newlineByte, start);
    if (newline === -1) {
      yield* readTail(file, start, letter);
      return;
    }
    const good = goodLine(file, { start, end: newline }, letter);
    if (good === undefined) yield* salvage(file, { start, end: newline }, letter);
    else yield good;
    start = newline + 1;
  }
}

/** Whether a line can be appended: the newline of the last line may be damaged. */
export function endsCleanly(file: Buffer): boolean {
  return file.length === 0 || file.at(-1) === newlineByte;
}

const newlineByte = 0x0a;
const headerPattern = /^([A-Z])([0-9]{1,4}) ([0-9a-f]{8}) /;
const headerBytesMax = 16;
/** The most line starts that are tried inside one damaged range. */
const salvageStartsMax = 16;

interface Range {
  readonly start: number;
  readonly end: number;
}

function goodLine(file: Buffer, range: Range, letter: LineLetter): GoodLine | undefined {
  const content = file.subarray(range.start, range.end);
  const header = headerPattern.exec(content.toString("latin1", 0, headerBytesMax));
  if (header === null || header[1] !== letter) return undefined;
  const version = Number(header[2]);
  const body = content.subarray(header[0].length);
  if (hex(crc32(body, prefixSum(letter, version))) !== header[3]) return undefined;
  return { kind: "line", version, body: body.toString("utf8"), offset: range.start, bytes: content.length + 1 };
}

/** The bytes after the last newline: a torn line (usual after a crash), or a line whose newline is damaged. */
function* readTail(file: Buffer, start: number, letter: LineLetter): Generator<Segment> {
  const tail = file.subarray(start);
  if (looksTorn(tail, letter)) yield { kind: "torn", offset: start, bytes: tail.length };
  else yield* salvage(file, { start, end: file.length }, letter);
}

/** A prefix of a line, followed only by the zeros that some file systems leave after a power cut. */
function looksTorn(tail: Buffer, letter: LineLetter): boolean {
  let end = tail.length;
  while (end > 0 && tail[end - 1] === 0) end -= 1;
  const text = tail.toString("latin1", 0, end);
  const whole = `${letter}${lineVersion} `;
  if (text.length <= whole.length) return whole.startsWith(text);
  if (!text.startsWith(whole) || !/^[0-9a-f]{0,8}( |$)/.test(text.slice(whole.length))) return false;
  // A control character is damage; at the end of a complete line it is a damaged newline.
  return !/[\x00-\x1f]/.test(text) && goodLine(tail, { start: 0, end: end - 1 }, letter) === undefined;
}

/**
 * A damaged newline joins two good lines. This splits the range at everything that looks like the start of a line and
 * keeps each part with a correct checksum. The rest is damage.
 */
function* salvage(file: Buffer, range: Range, letter: LineLetter): Generator<Segment> {
  const starts = lineStarts(file, range, letter);
  let at = range.start;
  let damagedFrom = range.start;
  while (at < range.end) {
    const later = starts.filter((start) => start > at);
    const found = longestGood(file, at, [range.end, range.end - 1, ...later.map((start) => start - 1)], letter);
    if (found === undefined) {
      at = later[0] ?? range.end;
      continue;
    }
    // One stray byte between two good lines is the damaged newline itself, so nothing is lost.
    if (at > damagedFrom) yield damaged(file, damagedFrom, at);
    yield found.line;
    at = later.find((start) => start === found.end + 1) ?? range.end;
    damagedFrom = at;
  }
  if (damagedFrom < range.end || range.end === range.start) yield damaged(file, damagedFrom, range.end);
}

function longestGood(
  file: Buffer,
  start: number,
  ends: readonly number[],
  letter: LineLetter,
): { line: GoodLine; end: number } | undefined {
  for (const end of ends) {
    const line = goodLine(file, { start, end }, letter);
    if (line !== undefined) return { line, end };
  }
  return undefined;
}

function lineStarts(file: Buffer, range: Range, letter: LineLetter): readonly number[] {
  const pattern = new RegExp(`${letter}${lineVersion} [0-9a-f]{8} `, "g");
  const text = file.toString("latin1", range.start, range.end);
  const starts = Array.from(text.matchAll(pattern), (match) => range.start + match.index);
  return starts.slice(0, salvageStartsMax);
}

function damaged(file: Buffer, start: number, end: number): DamagedBytes {
  // A copy, so that a few bytes do not keep the whole file in memory.
  return { kind: "damaged", offset: start, content: Buffer.from(file.subarray(start, end)) };
}

/** Checksums of this build's prefixes, because every line needs one. */
const ownPrefixSums: Readonly<Record<LineLetter, number>> = {
  L: crc32(`L${lineVersion} `),
  C: crc32(`C${lineVersion} `),
  F: crc32(`F${lineVersion} `),
};

function prefixSum(letter: LineLetter, version: number): number {
  return version === lineVersion ? ownPrefixSums[letter] : crc32(`${letter}${version} `);
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, "0");
}
