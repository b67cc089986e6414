import type { NetworkName } from "../base/brand.ts";
import { toLeveeError } from "../base/errors.ts";
import type { Chain } from "../cni/chain.ts";
import { supportedVersions, supportsVerb } from "../cni/cni-version.ts";
import type { NetConf, ValidAttachment } from "../config/net-conf.ts";
import type { GcRota } from "./gc-rota.ts";
import { primaryNetwork, sourceOf } from "./networks.ts";
import type { NodePorts } from "./node-ports.ts";
import { networkChain } from "./verbs/status.ts";
import type { NetworkDefinition } from "./view.ts";

/** A network whose plugins are asked to collect their own garbage. */
export interface ToldNetwork {
  readonly key: string;
  readonly chain: Chain;
}

/** The primary network, those of the journal, then the definitions of the view; each once, and only those that want to know. */
export async function networksToTell(
  conf: NetConf,
  valid: readonly ValidAttachment[],
  ports: NodePorts & { readonly rota: GcRota },
): Promise<readonly ToldNetwork[]> {
  const primary = await primaryNetwork(conf, ports);
  const chains = new Map<string, Chain>();
  const add = (chain: Chain): void => {
    const key = keyOf(chain);
    if (!chains.has(key)) chains.set(key, { ...chain, isDefault: chain.confName === primary.conf.name });
  };
  add(networkChain(primary.network, primary.conf));
  const isWhole = knowsAll(valid, ports);
  if (isWhole) for (const record of ports.journal.all()) record.chains.forEach(add);
  const inUse = chains.size;
  if (isWhole) for (const chain of await definedChains(conf, ports)) add(chain);
  const all = [...chains].map(([key, chain]) => ({ key, chain }));
  const ordered = [...all.slice(0, inUse), ...ports.rota.order(all.slice(inUse))];
  return ordered.filter(({ chain }) => !chain.disableGC && supportsVerb(chain.cniVersion, "GC"));
}

/**
 * Whether the journal has every attachment of every container that lives. If not, we cannot tell a network which
 * attachments are valid; it would remove living ones.
 */
function knowsAll(valid: readonly ValidAttachment[], { journal }: NodePorts): boolean {
  if (journal.quarantined().length > 0) return false;
  const halfKnown = new Set(journal.leaks().flatMap((leak) => (leak.chains.length === 0 ? [leak.containerId] : [])));
  return valid.every(({ containerID }) => !halfKnown.has(containerID) && journal.knows(containerID) !== "lost");
}

/** Two definitions may share a name by which plugins keep their books, and yet be run by different plugins. */
function keyOf(chain: Chain): string {
  return [chain.confName, ...chain.links.map((link) => link.type)].join("/");
}

/** Only these need to be read: a configuration that names none of them is too old for GC. */
const gcVersions = supportedVersions.filter((version) => supportsVerb(version, "GC"));

async function definedChains(conf: NetConf, ports: NodePorts): Promise<readonly Chain[]> {
  const chains: Chain[] = [];
  for (const definition of ports.view.networks()) {
    const chain = await chainOf(definition, conf, ports);
    if (chain !== undefined) chains.push(chain);
  }
  return chains;
}

async function chainOf(definition: NetworkDefinition, conf: NetConf, ports: NodePorts): Promise<Chain | undefined> {
  const text = definition.config?.trim() ?? "";
  if (text !== "" && !gcVersions.some((version) => text.includes(version))) return undefined;
  const network = `${definition.namespace}/${definition.name}` as NetworkName;
  try {
    return networkChain(network, (await sourceOf(definition, conf, ports)).conf);
  } catch (thrown) {
    // It is no network of this node now; a pod that asks for it is told why.
    ports.logger.debug("A network cannot be told to collect its garbage", {
      network,
      reason: toLeveeError(thrown, "Reading").message,
    });
    return undefined;
  }
}
