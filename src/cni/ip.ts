/** IP addresses as Go's `net` package reads and prints them, because plugins and Multus compare these texts. */

interface Ip {
  readonly family: 4 | 6;
  /** 4 or 16 bytes, network order. An IPv4 address written as IPv6 (`::ffff:a.b.c.d`) has 4. */
  readonly bytes: Uint8Array;
  /** The canonical form. */
  readonly text: string;
}

interface Cidr {
  readonly ip: Ip;
  readonly prefix: number;
  /** `address/prefix`, host bits kept. */
  readonly text: string;
}

const v4Pattern = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;
const zeroCode = "0".charCodeAt(0);
const v6GroupPattern = /^[0-9a-f]{1,4}$/i;

export function parseIp(text: string): Ip | undefined {
  // Like Go, the pattern refuses leading zeros, so a dotted form that matches is canonical.
  if (v4Pattern.test(text)) return { family: 4, bytes: parseV4(text), text };
  const words = parseV6(text);
  return words === undefined ? undefined : ipOf(unmapped(Uint8Array.from(words.flatMap(bytesOf))));
}

/** Whether `parseIp` can read it. */
export function isIp(text: string): boolean {
  return v4Pattern.test(text) || parseIp(text) !== undefined;
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf("/");
  if (slash < 0) return undefined;
  const written = text.slice(0, slash);
  const ip = parseIp(written);
  const digits = text.slice(slash + 1);
  if (ip === undefined || !/^[0-9]+$/.test(digits)) return undefined;
  const isMapped = ip.family === 4 && written.includes(":");
  // The prefix of an IPv4 address written as IPv6 counts the bits of the IPv6 form.
  const prefix = isMapped ? Number(digits) - 96 : Number(digits);
  if (prefix < 0 || prefix > ip.bytes.length * 8) return undefined;
  return { ip, prefix, text: `${ip.text}/${prefix}` };
}

/** Whether a destination is the default route of its family. */
export function isDefaultDestination(cidr: Cidr): boolean {
  return cidr.prefix === 0 && cidr.ip.bytes.every((byte) => byte === 0);
}

/** The default destination of a family, in canonical form. */
export function defaultDestination(family: 4 | 6): string {
  return family === 4 ? "0.0.0.0/0" : "::/0";
}

function ipOf(bytes: Uint8Array): Ip {
  return bytes.length === 4 ? { family: 4, bytes, text: bytes.join(".") } : { family: 6, bytes, text: printV6(bytes) };
}

function parseV4(text: string): Uint8Array {
  const bytes = new Uint8Array(4);
  let [index, value] = [0, 0];
  // A round of garbage collection reads each address of the node, so no list of its parts is made.
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - zeroCode;
    if (digit >= 0) value = 10 * value + digit;
    else [bytes[index], index, value] = [value, index + 1, 0];
  }
  bytes[index] = value;
  return bytes;
}

/**
 * The eight 16-bit groups, or undefined. Like Go, it refuses a zone (`fe80::1%eth0`), which is valid on one host only.
 * It avoids `node:net`, which would cost an idle daemon memory (ADR 0025).
 */
function parseV6(text: string): readonly number[] | undefined {
  const [head = "", tail, ...more] = withHexTail(text).split("::");
  const left = groups(head);
  const right = tail === undefined ? [] : groups(tail);
  if (more.length > 0 || !left.concat(right).every((group) => group >= 0)) return undefined;
  const missing = 8 - left.length - right.length;
  // `::` stands for at least one group.
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  return [...left, ...Array.from({ length: missing }, () => 0), ...right];
}

/** Replaces a dotted IPv4 tail by its two hexadecimal groups. */
function withHexTail(text: string): string {
  const start = text.lastIndexOf(":") + 1;
  const tail = text.slice(start);
  if (start === 0 || !v4Pattern.test(tail)) return text;
  const [a = 0, b = 0, c = 0, d = 0] = parseV4(tail);
  return `${text.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/** The groups on one side of `::`, with NaN for an invalid group. */
function groups(side: string): readonly number[] {
  if (side === "") return [];
  return side.split(":").map((part) => (v6GroupPattern.test(part) ? Number.parseInt(part, 16) : Number.NaN));
}

function bytesOf(group: number): readonly [number, number] {
  return [group >> 8, group & 0xff];
}

function unmapped(bytes: Uint8Array): Uint8Array {
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? bytes.slice(12) : bytes;
}

/** RFC 5952: lower case, no leading zeros, the first longest run of two or more zero groups as `::`. */
function printV6(bytes: Uint8Array): string {
  const words = Array.from({ length: 8 }, (_, index) => ((bytes[2 * index] ?? 0) << 8) | (bytes[2 * index + 1] ?? 0));
  const run = longestZeroRun(words);
  const print = (part: readonly number[]): string => part.map((word) => word.toString(16)).join(":");
  if (run.length < 2) return print(words);
  return `${print(words.slice(0, run.start))}::${print(words.slice(run.start + run.length))}`;
}

function longestZeroRun(words: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let start = 0;
  words.forEach((word, index) => {
    if (word !== 0) start = index + 1;
    else if (index + 1 - start > best.length) best = { start, length: index + 1 - start };
  });
  return best;
}
