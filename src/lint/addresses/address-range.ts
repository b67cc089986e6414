import { parseCidr, parseIp } from "../../cni/ip.ts";

/** Addresses from `first` to `last`, both inclusive. They are bigints because IPv6 does not fit into a number. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

export interface AddressNumber {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** A subnet as it is written, `10.0.0.5/24`: its range, and the address in front of the slash. */
export interface AddressBlock {
  readonly range: AddressRange;
  readonly address: AddressNumber;
  readonly prefix: number;
}

export function addressNumber(text: string): AddressNumber | undefined {
  const ip = parseIp(text);
  return ip === undefined ? undefined : { family: ip.family, value: numberOf(ip.bytes) };
}

export function addressBlock(text: string): AddressBlock | undefined {
  const cidr = parseCidr(text);
  if (cidr === undefined) return undefined;
  const { family, bytes } = cidr.ip;
  const value = numberOf(bytes);
  const hostBits = BigInt(bytes.length * 8 - cidr.prefix);
  const first = (value >> hostBits) << hostBits;
  return {
    range: { family, first, last: first + (1n << hostBits) - 1n },
    address: { family, value },
    prefix: cidr.prefix,
  };
}

export function rangeHas(range: AddressRange, { family, value }: AddressNumber): boolean {
  return range.family === family && range.first <= value && value <= range.last;
}

export function rangesOverlap(left: AddressRange, right: AddressRange): boolean {
  return left.family === right.family && left.first <= right.last && right.first <= left.last;
}

/** The parts of a range that none of the others has. */
export function rangeWithout(range: AddressRange, others: readonly AddressRange[]): readonly AddressRange[] {
  return others.reduce<readonly AddressRange[]>(
    (parts, other) => parts.flatMap((part) => (rangesOverlap(part, other) ? cut(part, other) : [part])),
    [range],
  );
}

function cut(part: AddressRange, other: AddressRange): readonly AddressRange[] {
  const { family } = part;
  return [
    ...(part.first < other.first ? [{ family, first: part.first, last: other.first - 1n }] : []),
    ...(other.last < part.last ? [{ family, first: other.last + 1n, last: part.last }] : []),
  ];
}

/** How many addresses the ranges have together. They must not overlap. */
export function addressCount(ranges: readonly AddressRange[]): bigint {
  return ranges.reduce((sum, { first, last }) => sum + last - first + 1n, 0n);
}

export function addressText({ family, value }: AddressNumber): string {
  const size = family === 4 ? 4 : 16;
  const bytes = Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * (size - 1 - at))) & 0xffn));
  if (family === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    ((bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0)).toString(16),
  );
  return parseIp(groups.join(":"))?.text ?? groups.join(":");
}

export function rangeText({ family, first, last }: AddressRange): string {
  const start = addressText({ family, value: first });
  return first === last ? start : `${start} to ${addressText({ family, value: last })}`;
}

function numberOf(bytes: Uint8Array): bigint {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  // Nearly every address is of IPv4, and a node's rounds read hundreds of them.
  if (bytes.length === 4) return BigInt(((a * 256 + b) * 256 + c) * 256 + d);
  return bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}
