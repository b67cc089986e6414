import type { JsonText } from "../base/brand.ts";
import type { Chain } from "../cni/chain.ts";
import { printGoJson } from "../cni/go-json.ts";
import { parseCidr } from "../cni/ip.ts";
import { present } from "../cni/present.ts";
import { type CniResult, parseResult, type ResultInterface } from "../cni/result.ts";
import { deviceInfoOf } from "./device-info.ts";

/** One entry of the annotation. Members are printed in this order. */
interface NetworkStatus {
  readonly "name": string;
  readonly "interface"?: string;
  readonly "ips"?: readonly string[];
  readonly "mac"?: string;
  readonly "mtu"?: number;
  readonly "default"?: true;
  readonly "dns": CniResult["dns"];
  readonly "device-info"?: object;
  readonly "gateway"?: readonly string[];
}

/**
 * The value of the network-status annotation from the plugins' results, byte for byte as Multus writes it.
 * Undefined when no result has an interface; then Levee writes nothing. `deviceInfo` holds one text per chain.
 */
export function networkStatus(
  chains: readonly Chain[],
  results: readonly (JsonText | undefined)[],
  deviceInfo: readonly (JsonText | undefined)[] = [],
): string | undefined {
  const statuses = chains.flatMap((chain, index) => {
    const text = results[index];
    if (text === undefined) return [];
    const result = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
    return statusesOf({ chain, result, device: deviceInfoOf(deviceInfo[index]) });
  });
  return statuses.length === 0 ? undefined : `[${statuses.map(printGoJson).join(",")}]`;
}

interface Attached {
  readonly chain: Chain;
  readonly result: CniResult;
  readonly device: object | undefined;
}

function statusesOf(attached: Attached): NetworkStatus[] {
  const { interfaces, ips } = attached.result;
  const [only] = interfaces;
  // A single interface gets all addresses, whatever their index.
  if (only !== undefined && interfaces.length === 1) {
    return [statusOf(attached, { link: only, ips: ips.map(addressOf), isDefault: attached.chain.isDefault })];
  }
  return statusesBySandbox(attached);
}

/** With several interfaces, each one inside the pod gets an entry with its own addresses. */
function statusesBySandbox(attached: Attached): NetworkStatus[] {
  const { interfaces, ips } = attached.result;
  const inside = interfaces.flatMap((link, index) => (link.sandbox === undefined ? [] : [index]));
  const last = inside.at(-1);
  const defaultIndex = attached.chain.isDefault ? defaultInterface(attached.result, inside) : undefined;
  return inside.flatMap((index) => {
    const link = interfaces[index];
    // Addresses without an index go to the last interface.
    const own = ips.filter((ip) => (ip.interface ?? last) === index).map(addressOf);
    return link === undefined ? [] : [statusOf(attached, { link, ips: own, isDefault: index === defaultIndex })];
  });
}

/** The interface of the first address with a gateway, even outside the pod; else the first interface inside. */
function defaultInterface(result: CniResult, inside: readonly number[]): number | undefined {
  const index = result.ips.find((ip) => ip.gateway !== undefined && ip.interface !== undefined)?.interface;
  return index === undefined || index === -1 ? inside[0] : index;
}

interface Part {
  readonly link: ResultInterface;
  readonly ips: readonly string[];
  readonly isDefault: boolean;
}

function statusOf({ chain, result, device }: Attached, { link, ips, isDefault }: Part): NetworkStatus {
  // An interface outside the pod does not belong to the pod.
  const inside = link.sandbox === undefined ? undefined : link;
  const { nameservers, domain, search, options } = result.dns;
  return {
    name: chain.network,
    ...present("interface", nonEmpty(inside?.name)),
    ...present("ips", ips.length === 0 ? undefined : ips),
    ...present("mac", inside?.mac),
    ...present("mtu", inside?.mtu),
    ...present("default", isDefault ? true : undefined),
    dns: {
      ...present("nameservers", nameservers),
      ...present("domain", domain),
      ...present("search", search),
      ...present("options", options),
    },
    ...present("device-info", device),
    ...present("gateway", gatewaysOf(result)),
  };
}

/**
 * Gateways of the default routes in the plugin's own result, before `default-route` changes them. Multus ignores the
 * prefix length, so half a default route (`0.0.0.0/1`) counts, too.
 */
function gatewaysOf(result: CniResult): string[] | undefined {
  const gateways = result.routes.flatMap(({ dst, gw }) => {
    const isZero = parseCidr(dst)?.ip.bytes.every((byte) => byte === 0) === true;
    return gw !== undefined && isZero ? [gw] : [];
  });
  return gateways.length === 0 ? undefined : gateways;
}

function addressOf(ip: { readonly address: string }): string {
  return ip.address.slice(0, ip.address.indexOf("/"));
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
