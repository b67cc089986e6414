import { LeveeError } from "../base/errors.ts";
import { parseIp } from "../cni/ip.ts";
import type { Chain } from "../cni/chain.ts";
import type { RouteOp } from "../wire/messages.ts";

/** The changes to default routes on a chain's interface, removals first. */
export function routeOps(chain: Chain): readonly RouteOp[] {
  const ops: RouteOp[] = [];
  if (chain.routes.dropV4) ops.push({ op: "delete-default", family: 4, ifname: chain.ifname });
  if (chain.routes.dropV6) ops.push({ op: "delete-default", family: 6, ifname: chain.ifname });
  for (const gateway of chain.routes.gateways) {
    const ip = parseIp(gateway);
    if (ip === undefined)
      throw new LeveeError(
        "annotation-invalid",
        `Cannot set a default route on ${chain.ifname}: ${JSON.stringify(gateway)} is no IP address`,
      );
    ops.push({ op: "add-default", family: ip.family, ifname: chain.ifname, gateway: ip.bytes });
  }
  return ops;
}
