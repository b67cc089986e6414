import type { JsonText } from "../base/brand.ts";
import { LeveeError } from "../base/errors.ts";
import type { Chain, RouteEdit } from "../cni/chain.ts";
import { defaultDestination, isDefaultDestination, parseCidr, parseIp } from "../cni/ip.ts";
import { type CniResult, parseResult, type ResultRoute } from "../cni/result.ts";

/** The result for the runtime: the default network's, with its default routes edited. */
export function mergeResults(chains: readonly Chain[], results: readonly JsonText[]): CniResult {
  const index = chains.findIndex((chain) => chain.isDefault);
  const [chain, text] = [chains[index], results[index]];
  if (chain === undefined || text === undefined) {
    throw new LeveeError(
      "internal",
      `Cannot answer: no result of the default network among ${results.length} of ${chains.length}`,
    );
  }
  const result = parseResult(text, chain.cniVersion, `the result of ${chain.network}`);
  return { ...result, routes: editRoutes(result.routes, chain.routes) };
}

/** The routes of a result after an edit, because CHECK and the runtime must see the routes in the namespace. */
export function editRoutes(routes: readonly ResultRoute[], edit: RouteEdit): ResultRoute[] {
  const kept = routes.filter((route) => !isDropped(route, edit));
  const added = edit.gateways.map((gateway): ResultRoute => {
    const ip = parseIp(gateway);
    if (ip === undefined)
      throw new LeveeError(
        "internal",
        `Cannot add a default route: the gateway is no IP address: current value is ${gateway}`,
      );
    return { dst: defaultDestination(ip.family), gw: ip.text };
  });
  return [...kept, ...added];
}

function isDropped(route: ResultRoute, edit: RouteEdit): boolean {
  const destination = parseCidr(route.dst);
  if (destination === undefined || !isDefaultDestination(destination)) return false;
  return destination.ip.family === 4 ? edit.dropV4 : edit.dropV6;
}
