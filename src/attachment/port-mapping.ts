import type { JsonText } from "../base/brand.ts";
import { parseIp } from "../cni/ip.ts";
import { memberText } from "../cni/json-text.ts";

/** Whether an object of `portMappings` says what a plugin needs: two ports, and perhaps a protocol and an address of the host. */
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
