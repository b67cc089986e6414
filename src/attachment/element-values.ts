import type { JsonText } from "../base/brand.ts";
import { parseIp } from "../cni/ip.ts";
import { isSameKey } from "../cni/fold-key.ts";
import { jsonKind, scanObject, valueOf } from "../cni/json-text.ts";

/** Accepts the forms of Go's `net.ParseMAC`: 6, 8 or 20 bytes, in pairs with ':' or '-', or in fours with '.'. */
export function isMacAddress(text: string): boolean {
  return isGrouped(text, ":", 2) || isGrouped(text, "-", 2) || isGrouped(text, ".", 4);
}

const bytesAllowed: ReadonlySet<number> = new Set([6, 8, 20]);

function isGrouped(text: string, separator: string, digits: 2 | 4): boolean {
  const groups = text.split(separator);
  const isHex = groups.every((group) => group.length === digits && /^[0-9a-fA-F]+$/.test(group));
  return isHex && bytesAllowed.has((groups.length * digits) / 2);
}

/** The members of `bandwidth`. */
export const rateKeys = ["ingressRate", "ingressBurst", "egressRate", "egressBurst"];

/** Whether each rate of a `bandwidth` object is a whole number that every JSON reader reads exactly. */
export function isBandwidth(object: JsonText): boolean {
  return rateKeys.every((key) => valuesOf(object, key).every((value) => isNull(value) || isRate(value)));
}

function isRate(value: JsonText): boolean {
  return isWhole(value) && Number.isSafeInteger(Number(value)) && Number(value) >= 0;
}

/** Whether an object of `portMappings` has two valid ports and, optionally, a protocol and a host address. */
export function isPortMapping(mapping: JsonText): boolean {
  const has = (key: string, isGood: (value: JsonText) => boolean): boolean =>
    valuesOf(mapping, key).every((value) => isNull(value) || isGood(value));
  const hasPort = (key: string): boolean => has(key, isPort) && valuesOf(mapping, key).some(isPort);
  return hasPort("hostPort") && hasPort("containerPort") && has("protocol", isProtocol) && has("hostIP", isHostIp);
}

/**
 * Every value of a key, in any letter case. Go's decoder, in Multus and in the plugins, reads each of them into the same
 * field, so one of a wrong type is an error even when a good one follows it.
 */
function valuesOf(object: JsonText, key: string): readonly JsonText[] {
  return scanObject(object)
    .filter((member) => isSameKey(member.key, key))
    .map((member) => valueOf(object, member));
}

function isNull(value: JsonText): boolean {
  return jsonKind(value) === "null";
}

/** Go reads no `80.0` and no `8e1` into an integer. */
function isWhole(value: JsonText): boolean {
  return /^-?(?:0|[1-9][0-9]*)$/.test(value);
}

function isPort(value: JsonText): boolean {
  return isWhole(value) && Number(value) >= 1 && Number(value) <= 65_535;
}

function isProtocol(value: JsonText): boolean {
  return jsonKind(value) === "string" && ["", "tcp", "udp", "sctp"].includes(textOf(value).toLowerCase());
}

function isHostIp(value: JsonText): boolean {
  return jsonKind(value) === "string" && (textOf(value) === "" || parseIp(textOf(value)) !== undefined);
}

function textOf(value: JsonText): string {
  return String(JSON.parse(value));
}
