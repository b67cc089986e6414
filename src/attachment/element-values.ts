import type { JsonText } from "../base/brand.ts";
import { parseIp } from "../cni/ip.ts";
import { jsonKind, memberText } from "../cni/json-text.ts";

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

/** Whether a value of `bandwidth` is a whole number that every JSON reader reads exactly. */
export function isRate(value: JsonText | undefined): boolean {
  return (
    value === undefined ||
    jsonKind(value) === "null" ||
    (/^(?:0|[1-9][0-9]*)$/.test(value) && Number.isSafeInteger(Number(value)))
  );
}

/** Whether an object of `portMappings` has two valid ports and, optionally, a protocol and a host address. */
export function isPortMapping(mapping: JsonText): boolean {
  const read = (key: string): unknown => JSON.parse(memberText(mapping, key) ?? "null");
  return (
    [read("hostPort"), read("containerPort")].every(isPort) && isProtocol(read("protocol")) && isHostIp(read("hostIP"))
  );
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;
}

function isProtocol(value: unknown): boolean {
  return value === null || (typeof value === "string" && ["", "tcp", "udp", "sctp"].includes(value.toLowerCase()));
}

function isHostIp(value: unknown): boolean {
  return value === null || value === "" || (typeof value === "string" && parseIp(value) !== undefined);
}
