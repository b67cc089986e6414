import { LeveeError } from "../base/errors.ts";
import type { RouteEdit } from "../cni/chain.ts";
import { parseIp } from "../cni/ip.ts";
import type { SelectionElement } from "./selection-element.ts";

const untouched: RouteEdit = { dropV4: false, dropV6: false, gateways: [] };

/**
 * The changes to default routes, one edit per attachment in the order of `elements`.
 *
 * `default-route` chooses the attachment that gets the pod's default route of a family. All others lose their default
 * route of that family, and the chosen one gets the named gateway instead of its own. A family without a gateway stays
 * unchanged, so a dual-stack pod that names only an IPv4 gateway keeps its IPv6 default. With an empty list the
 * attachment keeps the default routes of its plugin in both families, and all others lose theirs.
 * (Multus strips every interface in that case, eth0 included, and from 4.2.2 on it removes nothing at all.)
 */
export function planDefaultRoutes(elements: readonly (SelectionElement | undefined)[]): RouteEdit[] {
  const wishes = elements.map((element) => element?.defaultRoute);
  const asked = wishes.filter((wish) => wish !== undefined);
  if (asked.length === 0) return wishes.map(() => untouched);
  checkSingle(asked);
  const gateways = asked.flat();
  const hasKeeper = asked.some((wish) => wish.length === 0);
  return wishes.map((wish) => {
    // An attachment with an empty list loses its route only to a named gateway.
    const isKeeper = wish?.length === 0;
    const moves = (family: 4 | 6): boolean => hasFamily(gateways, family) || (hasKeeper && !isKeeper);
    return { dropV4: moves(4), dropV6: moves(6), gateways: wish ?? [] };
  });
}

/** One default route per family: the kernel could balance over two, but Multus does not support it. */
function checkSingle(asked: readonly (readonly string[])[]): void {
  const gateways = asked.flat();
  const isSingle = ([4, 6] as const).every(
    (family) => gateways.filter((gateway) => familyOf(gateway) === family).length <= 1,
  );
  const keepers = asked.filter((wish) => wish.length === 0).length;
  if (isSingle && keepers <= 1) return;
  throw new LeveeError("annotation-invalid", "multus does not support ECMP for default-route", {
    details: `default-route was asked for as ${JSON.stringify(asked)}; at most one gateway per family and one empty list may be given`,
  });
}

function hasFamily(gateways: readonly string[], family: 4 | 6): boolean {
  return gateways.some((gateway) => familyOf(gateway) === family);
}

function familyOf(gateway: string): 4 | 6 | undefined {
  return parseIp(gateway)?.family;
}
