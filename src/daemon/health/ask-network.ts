import type { ContainerId, IfName, NetworkName } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import type { Chain } from "../../cni/chain.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { pluginStdin } from "../../cni/plugin-stdin.ts";
import type { Hand } from "../../hands/hand.ts";
import type { ChainPlace } from "../../hands/run-chain.ts";

/** A chain without an attachment, for verbs that concern a whole network (STATUS, GC). */
export function networkChain(network: NetworkName, conf: NetworkConf): Chain {
  return {
    network,
    confName: conf.name,
    ifname: "" as IfName,
    cniVersion: conf.cniVersion,
    isDefault: true,
    cniArgs: "",
    links: conf.plugins.map((plugin) => ({
      type: plugin.type,
      stdin: pluginStdin(plugin, { name: conf.name, cniVersion: conf.cniVersion }),
    })),
    disableCheck: conf.disableCheck,
    disableGC: conf.disableGC,
    routes: { dropV4: false, dropV6: false, gateways: [] },
    multus: { config: conf.text, isList: conf.isList, capabilityArgs: {}, request: {} },
  };
}

export function networkPlace(
  call: { readonly hand: Hand; remainingMs(): number },
  clock: Clock,
  { binDir, limitMs }: { readonly binDir: string; readonly limitMs: number },
): ChainPlace {
  const endsMs = clock.monotonicMs() + Math.min(limitMs, call.remainingMs());
  return {
    containerId: "" as ContainerId,
    netns: "",
    cniPath: pluginPath(call.hand, binDir),
    remainingMs: () => Math.max(1, endsMs - clock.monotonicMs()),
    onRan: () => undefined,
  };
}

/** The plugin folder for a call that names none: the hand's own path, then the configured folder. */
export function pluginPath(hand: Hand, binDir: string): string {
  return hand.cniPath === "" ? binDir : hand.cniPath;
}
