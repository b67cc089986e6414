import { type CniVersion, compareVersions } from "./cni-version.ts";
import { printGoJson, sortedKeys } from "./go-json.ts";
import { parseCidr } from "./ip.ts";
import type { CniResult, ResultInterface, ResultIp, ResultRoute } from "./result-model.ts";

/** Prints a result in the shape of a version, byte for byte as libcni does. */
export function printResultAs(result: CniResult, version: CniVersion): string {
  if (compareVersions(version, "0.3.0") < 0) return printGoJson(shape020(result, version));
  if (compareVersions(version, "1.0.0") < 0) return printGoJson(shape030(result, version));
  // From 1.0.0 on libcni prints a map, so the keys are sorted.
  return printGoJson(sortedKeys(shape100(result, version)));
}

/** Old readers take one address of each family, with the routes of that family below it. */
function shape020(result: CniResult, cniVersion: CniVersion): unknown {
  const family = (wanted: 4 | 6): unknown => {
    const ip = result.ips.find((candidate) => familyOf(candidate.address) === wanted);
    if (ip === undefined) return undefined;
    const routes = result.routes.filter((route) => familyOf(route.dst) === wanted);
    return {
      ip: ip.address,
      gateway: ip.gateway,
      routes: listOrNothing(routes.map((route) => ({ dst: route.dst, gw: route.gw }))),
    };
  };
  return { cniVersion, ip4: family(4), ip6: family(6), dns: dnsShape(result) };
}

function shape030(result: CniResult, cniVersion: CniVersion): unknown {
  return {
    cniVersion,
    interfaces: listOrNothing(result.interfaces.map(interfaceShape030)),
    ips: listOrNothing(result.ips.map((ip) => ({ version: String(familyOf(ip.address)), ...ipShape(ip) }))),
    routes: listOrNothing(result.routes.map(routeShape)),
    dns: dnsShape(result),
  };
}

function shape100(result: CniResult, cniVersion: CniVersion): unknown {
  const dns = dnsShape(result);
  return {
    cniVersion,
    interfaces: listOrNothing(result.interfaces),
    ips: listOrNothing(result.ips.map(ipShape)),
    routes: listOrNothing(result.routes.map(routeShape)),
    ...(Object.values(dns).every((part) => part === undefined) ? {} : { dns }),
  };
}

/** Like libcni, it drops the interface members of 1.1.0 for older readers and keeps the route members. */
function interfaceShape030(link: ResultInterface): object {
  const { name, mac, sandbox } = link;
  return { name, mac, sandbox };
}

function ipShape(ip: ResultIp): object {
  return { interface: ip.interface, address: ip.address, gateway: ip.gateway };
}

function routeShape(route: ResultRoute): object {
  const { dst, gw, mtu, advmss, priority, table, scope } = route;
  return { dst, gw, mtu, advmss, priority, table, scope };
}

function dnsShape(result: CniResult): Record<string, unknown> {
  const { nameservers, domain, search, options } = result.dns;
  return { nameservers, domain, search, options };
}

function familyOf(address: string): 4 | 6 | undefined {
  return parseCidr(address)?.ip.family;
}

function listOrNothing<Item>(list: readonly Item[]): readonly Item[] | undefined {
  return list.length === 0 ? undefined : list;
}
