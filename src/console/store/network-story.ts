import type { ConsoleNetworkStory } from "../../wire/console-story.ts";
import { noIpam } from "../facts/network-seen.ts";
import { addressRoom, type NodeLeases } from "../view/address-room.ts";
import { networkLine } from "../view/network-lines.ts";
import { byWeight } from "../view/pod-book.ts";
import { networkSight, type ClusterWorld } from "./cluster-sights.ts";

const rowsMax = 200;

/** One network: which nodes cannot serve it, which pods ask for it, and how many addresses are left. */
export function networkStory(name: string, world: ClusterWorld): ConsoleNetworkStory | undefined {
  const sight = networkSight(name, world);
  if (sight === undefined) return undefined;
  const { copy } = world;
  const pods = [...copy.pods.store.values()]
    .filter(({ networks, state }) => state !== "ended" && networks.includes(name))
    .flatMap(({ namespace, name: pod, node, state }) => (state === "host" ? [] : [{ namespace, pod, node, state }]))
    .toSorted(byWeight);
  const [namespace = "", own = ""] = name.split("/");
  const seen = copy.networks.store.get(namespace, own);
  const bad = sight.onNodes.filter(({ state }) => state !== "ready").slice(0, rowsMax);
  const attached = pods.filter(({ state }) => state === "attached").length;
  return {
    line: networkLine(sight),
    nodes: bad.map(({ node, state, reasons }) => ({ node, state, why: reasons.join(", ") })),
    pods: pods.slice(0, rowsMax),
    podsTotal: pods.length,
    ...addressRoom(seen?.ipam ?? noIpam, attached, nodeLeases(seen?.confName ?? own, world)),
    config: seen?.config ?? "",
    command: "levee check node --all",
  };
}

/** A node that told of addresses and of none of this network holds none of it. */
function nodeLeases(confName: string, { said }: ClusterWorld): readonly NodeLeases[] {
  return [...said].flatMap(([node, { deep }]): readonly NodeLeases[] => {
    if (deep?.leases === undefined) return [];
    const { v4 = 0, v6 = 0 } = deep.leases.find(({ network }) => network === confName) ?? {};
    return [{ node, v4, v6 }];
  });
}
