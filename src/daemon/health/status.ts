import type { ContainerId, IfName, NetworkName } from "../../base/brand.ts";
import { errorCatalogue, LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Chain } from "../../cni/chain.ts";
import { supportsVerb } from "../../cni/cni-version.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { pluginStdin } from "../../cni/plugin-stdin.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import { runForNetwork, type ChainPlace } from "../../hands/run-chain.ts";
import type { Call } from "../serve/call.ts";
import { pluginPath } from "../undo/undo-chains.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { Ports } from "../ports.ts";
import { silence, type Reply } from "../serve/reply.ts";

/** Runtimes ask every few seconds and hold a lock meanwhile, so the primary's plugins get little time. */
const statusMsMax = 2_000;

/**
 * Whether this node may take pods. Fails only when there is no primary network or its own plugins say so: kubelet takes
 * the whole node out of service otherwise, so overload, a full disk or a distant API server are never said here.
 */
export async function status(call: Call, ports: Ports): Promise<Reply> {
  const conf = effectiveNetConf(await call.config(), ports.config);
  const source = await primaryNetwork(conf, ports).catch((thrown: unknown) => unlessUnseen(thrown, ports));
  if (source !== undefined && supportsVerb(source.conf.cniVersion, "STATUS")) {
    await runForNetwork(
      call.hand,
      "STATUS",
      networkChain(source.network, source.conf),
      networkPlace(call, ports, statusMsMax),
    ).catch((thrown: unknown) => judge(thrown, ports));
  }
  return silence;
}

/** A primary network that is a definition on the API server may well be there as long as nobody has seen the whole list. */
function unlessUnseen(thrown: unknown, { view }: Pick<Ports, "view">): undefined {
  const isUnseen = thrown instanceof LeveeError && thrown.code === "network-unknown" && view.live?.isSynced() === false;
  if (!isUnseen) asNotReady(thrown);
}

/**
 * A plugin that did not get to its answer (too slow, killed for want of memory) is a sign of a node under pressure, not
 * of a primary network that is not there; taking the node out of service would make it worse.
 */
function judge(thrown: unknown, ports: Ports): void {
  const error = toLeveeError(thrown, "Cannot ask the primary network");
  if (error.code !== "delegate-timeout" && error.code !== "delegate-oom") asNotReady(error);
  ports.logger.warn("The primary network did not answer STATUS, which is taken for pressure", {
    reason: error.message,
  });
}

/** A plugin's own code (50, 51) goes through; whatever else keeps the primary from working is "not available". */
function asNotReady(thrown: unknown): never {
  const error = toLeveeError(thrown, "Cannot ask the primary network");
  const isOwn = error.code === "delegate-failed" && error.cniCode !== errorCatalogue["delegate-failed"].cni;
  if (isOwn || error.code === "not-ready" || error.code === "hand-lost") throw error;
  throw new LeveeError("not-ready", error.message, { cause: thrown, details: error.details });
}

/** A chain that belongs to no attachment: for verbs that ask about a network as a whole. */
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

export function networkPlace(call: Call, ports: Ports, limitMs: number): ChainPlace {
  const endsMs = ports.clock.monotonicMs() + Math.min(limitMs, call.remainingMs());
  return {
    containerId: "" as ContainerId,
    netns: "",
    cniPath: pluginPath(call.hand, ports),
    remainingMs: () => Math.max(1, endsMs - ports.clock.monotonicMs()),
    onRan: () => undefined,
  };
}
