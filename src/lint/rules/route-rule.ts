import { isDefaultDestination, parseCidr } from "../../cni/ip.ts";
import { isBridgeType } from "../../cni/network-conf.ts";
import { elementsOf, memberOf, integerMember, isTrueMember, textMember, type JsonNode } from "../json-node.ts";
import { lintFinding, type LintFinding } from "../lint-finding.ts";
import type { ReadNetwork, ReadPlugin } from "../read-network.ts";

interface DefaultRoute {
  readonly family: 4 | 6;
  readonly node: JsonNode;
}

/** A default route of an additional network stands beside eth0's. */
export function routeRule(read: ReadNetwork, isDefaultNetwork: boolean): readonly LintFinding[] {
  const routes = read.plugins.flatMap(defaultRoutesOf);
  const [first] = routes;
  const gateway = read.plugins.map(gatewayFlag).find((node) => node !== undefined);
  const again = routes.find((route, at) => routes.slice(0, at).some(({ family }) => family === route.family));
  const twice =
    again === undefined
      ? []
      : [
          lintFinding("LVN0602", read.network, {
            message: `it has two default routes of IPv${again.family}`,
            spot: { on: "config", span: again.node },
          }),
        ];
  const node = first?.node ?? gateway;
  if (node === undefined || isDefaultNetwork || hasOwnTable(read)) return twice;
  const what = first === undefined ? '"isDefaultGateway" gives' : "it gives";
  return [
    ...twice,
    lintFinding("LVN0601", read.network, {
      message: `${what} pods a default route beside that of eth0`,
      spot: { on: "config", span: node },
    }),
  ];
}

/** Routes of the main table; one with a table of its own is asked for by rules only. */
function defaultRoutesOf({ ipam }: ReadPlugin): readonly DefaultRoute[] {
  return elementsOf(memberOf(ipam?.node, "routes")?.value).flatMap((node) => {
    const cidr = parseCidr(textMember(node, "dst") ?? "");
    if (cidr === undefined || !isDefaultDestination(cidr) || (integerMember(node, "table") ?? 0) !== 0) return [];
    return [{ family: cidr.ip.family, node }];
  });
}

function gatewayFlag({ type, node }: ReadPlugin): JsonNode | undefined {
  return isBridgeType(type) && isTrueMember(node, "isDefaultGateway")
    ? memberOf(node, "isDefaultGateway")?.value
    : undefined;
}

/** sbr and vrf move the routes of the interface into a table of their own. */
function hasOwnTable({ plugins }: ReadNetwork): boolean {
  return plugins.some(({ type }) => type === "sbr" || type === "vrf");
}
