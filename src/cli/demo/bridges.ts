import { existsSync } from "node:fs";
import { CommandFailure } from "../failure.ts";
import { ip, requireToolSuccess } from "../node/netns.ts";
import type { Shell } from "../shell.ts";
import type { Site, SiteNetwork } from "./site.ts";

type Tools = Pick<Shell, "clock" | "env" | "isRoot">;

/** Makes the two bridges with their gateways' addresses, so that no plugin has to change this host's forwarding. */
export async function makeBridges(tools: Tools, site: Site): Promise<void> {
  await refuseTakenSubnets(tools, site);
  for (const network of site.networks) await makeBridge(tools, network);
}

export async function removeBridges(tools: Tools, site: Site): Promise<readonly string[]> {
  const there = site.networks.map(({ bridge }) => bridge).filter(hasLink);
  for (const bridge of there)
    requireToolSuccess(tools, await ip(tools, ["link", "del", bridge]), `Cannot remove the bridge ${bridge}`);
  return there;
}

export function hasLink(name: string): boolean {
  return existsSync(`/sys/class/net/${name}`);
}

async function makeBridge(tools: Tools, network: SiteNetwork): Promise<void> {
  const doing = `Cannot make the bridge ${network.bridge}`;
  requireToolSuccess(tools, await ip(tools, ["link", "add", network.bridge, "type", "bridge"]), doing);
  for (const { gateway, prefixLength } of network.subnets) {
    // The link is new, so duplicate address detection would only cost a second.
    const flags = gateway.includes(":") ? ["nodad"] : [];
    requireToolSuccess(
      tools,
      await ip(tools, ["addr", "add", `${gateway}/${prefixLength}`, "dev", network.bridge, ...flags]),
      doing,
    );
  }
  requireToolSuccess(tools, await ip(tools, ["link", "set", network.bridge, "up"]), doing);
}

/** A machine that already uses one of these subnets must keep its route. */
async function refuseTakenSubnets(tools: Tools, site: Site): Promise<void> {
  for (const { subnet } of site.networks.flatMap(({ subnets }) => subnets)) {
    const end = await ip(tools, [subnet.includes(":") ? "-6" : "-4", "route", "show", "table", "all", "root", subnet]);
    const route = end.stdout.trim().split("\n")[0] ?? "";
    if (route !== "") {
      throw new CommandFailure(
        "subnet-taken",
        `Cannot use ${subnet} for the demo: this machine has a route to it: ${route}`,
        {
          remedy: "run the demo on another machine, or remove that route for now",
        },
      );
    }
  }
}
