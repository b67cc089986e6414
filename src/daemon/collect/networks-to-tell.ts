import type { NetworkName } from "../../base/brand.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import { supportedVersions, supportsVerb } from "../../cni/cni-version.ts";
import type { NetConf, ValidAttachment } from "../../config/net-conf.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import type { GcRota } from "./rota.ts";
import { primaryNetwork, sourceOf } from "../look-up/networks.ts";
import { networkChain } from "../health/ask-network.ts";
import type { View } from "../../view/view.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

export interface TellNetworksNeeds {
  readonly journal: Journal;
  readonly view: View;
  readonly confs: ConfCache;
  readonly logger: Logger;
  readonly rota: GcRota;
}

/** A network whose plugins are asked to collect their own garbage. */
export interface ToldNetwork {
  /** Its place among the definitions of the view; empty for those that are asked every time. */
  readonly key: string;
  readonly chain: Chain;
}

/**
 * The primary network, those of the journal, then the definitions of the view; each once, and only those that want to
 * know. One after the other: a cluster may have thousands, and the time is short.
 */
export async function* networksToTell(
  conf: NetConf,
  valid: readonly ValidAttachment[],
  needs: TellNetworksNeeds,
): AsyncGenerator<ToldNetwork> {
  const primary = await primaryNetwork(conf, needs);
  const seen = new Set<string>();
  const pick = (chain: Chain, key: string): readonly ToldNetwork[] => {
    const isNew = seen.size < seen.add(booksOf(chain)).size;
    const wantsIt = !chain.disableGC && supportsVerb(chain.cniVersion, "GC");
    return isNew && wantsIt ? [{ key, chain: { ...chain, isDefault: chain.confName === primary.conf.name } }] : [];
  };
  const isWhole = knowsAll(valid, needs);
  if (isWhole || !mayBeSecondary(primary.conf.name, needs))
    yield* pick(networkChain(primary.network, primary.conf), "");
  if (!isWhole) return;
  for (const record of needs.journal.all()) for (const chain of record.chains) yield* pick(chain, "");
  for (const definition of needs.rota.order(datedDefinitions(needs))) {
    const chain = await chainOf(definition, conf, needs);
    if (chain !== undefined) yield* pick(chain, definition.key);
  }
}

/**
 * Whether the journal has every attachment of every container that lives. If not, we cannot tell a network which
 * attachments are valid; it would remove living ones. A container that was never ours is none that we know: whoever
 * attached it before Levee came may have given it more networks than the primary one.
 */
function knowsAll(valid: readonly ValidAttachment[], { journal }: TellNetworksNeeds): boolean {
  if (journal.quarantined().length > 0) return false;
  const halfKnown = new Set(journal.leaks().flatMap((leak) => (leak.chains.length === 0 ? [leak.containerId] : [])));
  return valid.every(({ containerID }) => !halfKnown.has(containerID) && journal.knows(containerID) === "live");
}

/**
 * Whether pods may have asked for the primary network once more. The runtime's list has only their first interface, so
 * of a container that the journal does not know the others would be taken away.
 */
function mayBeSecondary(confName: string, { journal, view }: TellNetworksNeeds): boolean {
  const isNamed = ({ name, config = "" }: NetworkDefinition): boolean =>
    config.includes(JSON.stringify(confName)) || (name === confName && !config.includes('"name"'));
  return (
    view.networks().some(isNamed) ||
    journal.all().some(({ chains }) => chains.some((chain) => !chain.isDefault && chain.confName === confName))
  );
}

/** Two definitions may share a name by which plugins keep their books, and yet be run by different plugins. */
function booksOf(chain: Chain): string {
  return [chain.confName, ...chain.links.map((link) => link.type)].join("/");
}

/** Only these need to be read: a configuration that names none of them is too old for GC. */
const gcVersions = supportedVersions.filter((version) => supportsVerb(version, "GC"));

type Keyed = NetworkDefinition & { readonly key: string };

function datedDefinitions({ view }: TellNetworksNeeds): readonly Keyed[] {
  return view
    .networks()
    .filter(({ config = "" }) => config.trim() === "" || gcVersions.some((version) => config.includes(version)))
    .map((definition) => ({ ...definition, key: `${definition.namespace}/${definition.name}` }));
}

async function chainOf(definition: Keyed, conf: NetConf, needs: TellNetworksNeeds): Promise<Chain | undefined> {
  try {
    // What people call the network is the definition's key.
    return networkChain(definition.key as NetworkName, (await sourceOf(definition, conf, needs)).conf);
  } catch (thrown) {
    // It is no network of this node now; a pod that asks for it is told why.
    const reason = toLeveeError(thrown, "Reading").message;
    needs.logger.debug("A network cannot be told to collect its garbage", { network: definition.key, reason });
    return undefined;
  }
}
