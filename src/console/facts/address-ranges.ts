import { isObject, textOf, type JsonObject } from "../../kube/client/json-fields.ts";

/** How many addresses a network's IPAM may give to pods; 0 for a family that it has none of, or that cannot be read. */
export interface RangeSizes {
  readonly v4: number;
  readonly v6: number;
}

/** host-local's `subnet` and `ranges`, or whereabouts' `range` and `ipRanges`. For display only: the plugins decide. */
export function rangeSizes(ipam: JsonObject): RangeSizes {
  const isHostLocal = ipam["type"] === "host-local";
  const sizes = rangesOf(ipam).map((range) => sizeOf(range, isHostLocal));
  const sum = (bits: number): number =>
    Number(sizes.filter((one) => one?.bits === bits).reduce((all, one) => all + (one?.count ?? 0n), 0n));
  return { v4: sum(32), v6: sum(128) };
}

function rangesOf(ipam: JsonObject): readonly JsonObject[] {
  const nested = ["ranges", "ipRanges"].flatMap((key) => {
    const list = ipam[key];
    return Array.isArray(list) ? (list.flat() as unknown[]) : [];
  });
  return [ipam, ...nested.filter(isObject)];
}

interface Size {
  readonly bits: 32 | 128;
  readonly count: bigint;
}

/** Without the network's own address and, in IPv4, the broadcast address; host-local also keeps the gateway's. */
function sizeOf(range: JsonObject, isHostLocal: boolean): Size | undefined {
  const subnet = subnetOf(textOf(range["subnet"]) || textOf(range["range"]));
  if (subnet === undefined) return undefined;
  const { bits, base, top } = subnet;
  const limit = (keys: readonly string[], otherwise: bigint): bigint =>
    addressOf(keys.map((key) => textOf(range[key])).find((text) => text !== "") ?? "")?.value ?? otherwise;
  const from = limit(["rangeStart", "range_start"], subnet.from ?? base + 1n);
  const to = limit(["rangeEnd", "range_end"], subnet.to ?? top);
  const gateway = isHostLocal ? limit(["gateway"], base + 1n) : -1n;
  const count = to - from + 1n - (from <= gateway && gateway <= to ? 1n : 0n);
  return { bits, count: count > 0n ? count : 0n };
}

interface Subnet {
  readonly bits: 32 | 128;
  readonly base: bigint;
  readonly top: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
}

/** `ADDRESS/LENGTH`, or `FIRST-LAST/LENGTH` as whereabouts takes it. */
function subnetOf(text: string): Subnet | undefined {
  const [, first = "", last = "", length = ""] = /^([^-/]+)(?:-([^/]+))?\/(\d{1,3})$/u.exec(text) ?? [];
  const own = addressOf(first);
  if (own === undefined || Number(length) > own.bits) return undefined;
  const { bits } = own;
  const hostBits = BigInt(bits - Number(length));
  const base = (own.value >> hostBits) << hostBits;
  const top = base + (1n << hostBits) - (bits === 32 ? 2n : 1n);
  const end = addressOf(last);
  return end === undefined ? { bits, base, top } : { bits, base, top, from: own.value, to: end.value };
}

function addressOf(text: string): { readonly bits: 32 | 128; readonly value: bigint } | undefined {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/u.test(text)) return { bits: 32, value: joined(text.split(".").map(Number), 8n) };
  if (!/^[0-9a-f:]{2,39}$/iu.test(text) || !text.includes(":")) return undefined;
  const [left = "", right, ...more] = text.split("::");
  const words = (part: string): readonly number[] =>
    part === "" ? [] : part.split(":").map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(left), words(right ?? "")];
  const gap = 8 - head.length - tail.length;
  const all = right === undefined ? head : [...head, ...Array.from({ length: Math.max(0, gap) }, () => 0), ...tail];
  const isWhole = more.length === 0 && all.length === 8 && all.every((word) => word >= 0 && word <= 0xffff);
  return isWhole ? { bits: 128, value: joined(all, 16n) } : undefined;
}

function joined(parts: readonly number[], bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) | BigInt(part), 0n);
}
