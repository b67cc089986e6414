import { ip, requireToolSuccess } from "./netns.ts";
import type { Shell } from "../shell.ts";

/** An interface as the kernel shows it, not as a plugin reported it. */
export interface InterfaceFacts {
  readonly ifname: string;
  readonly mac: string;
  readonly ips: readonly string[];
  readonly gateways: readonly string[];
}

type Tools = Pick<Shell, "clock" | "env" | "isRoot">;

/** Every interface of the namespace except `lo`. */
export async function interfacesOf(tools: Tools, netns: string): Promise<readonly InterfaceFacts[]> {
  const [links, v4, v6] = await Promise.all([
    ipJson(tools, netns, ["addr", "show"]),
    ipJson(tools, netns, ["-4", "route", "show", "default"]),
    ipJson(tools, netns, ["-6", "route", "show", "default"]),
  ]);
  const routes = [...v4, ...v6].map((route) => ({ ifname: text(route, "dev"), gateway: text(route, "gateway") }));
  return links
    .filter((link) => text(link, "ifname") !== "lo")
    .map((link) => {
      const ifname = text(link, "ifname");
      const gateways = routes
        .filter((route) => route.ifname === ifname && route.gateway !== "")
        .map((route) => route.gateway);
      return { ifname, mac: text(link, "address"), ips: addressesOf(link), gateways };
    });
}

/** Addresses with prefix length. Link-local addresses are left out, because the kernel makes them. */
function addressesOf(link: object): readonly string[] {
  const all: unknown = "addr_info" in link ? link.addr_info : [];
  return objects(all)
    .filter((address) => text(address, "scope") !== "link")
    .map((address) => `${text(address, "local")}/${"prefixlen" in address ? String(address.prefixlen) : "?"}`);
}

async function ipJson(tools: Tools, netns: string, args: readonly string[]): Promise<readonly object[]> {
  const end = await ip(tools, ["-n", netns, "-j", ...args]);
  requireToolSuccess(tools, end, `Cannot read the interfaces of the network namespace ${netns}`);
  // iproute2 prints nothing for an empty list.
  return end.stdout.trim() === "" ? [] : objects(JSON.parse(end.stdout));
}

function objects(value: unknown): readonly object[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is object => typeof item === "object" && item !== null);
}

function text(from: object, key: string): string {
  const value: unknown = Object.entries(from).find(([name]) => name === key)?.[1];
  return typeof value === "string" ? value : "";
}

/** `10.0.0.2` from `10.0.0.2/24`: a sentence does not need the prefix length. */
export function withoutPrefix(address: string): string {
  return address.split("/", 1)[0] ?? address;
}
