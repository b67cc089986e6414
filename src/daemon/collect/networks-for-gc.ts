import type { NetworkName } from "../../base/brand.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import { supportedVersions, supportsVerb } from "../../cni/cni-version.ts";
import type { NetConf, ValidAttachment } from "../../config/net-conf.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { primaryNetwork, sourceOf } from "../look-up/networks.ts";
import { networkChain } from "../health/ask-network.ts";
import type { View } from "../../view/view.ts";
import type { NetworkDefinition } from "../../view/network-definition.ts";

interface NetworksForGcNeeds {
  readonly journal: Journal;
  readonly view: View;
  readonly confs: ConfCache;
  readonly logger: Logger;
  readonly rota: GcRota;
}

/** A network whose plugins collect their own garbage. */
interface GcNetwork {
  /** Its place among the definitions of the view; empty for networks whose GC runs every time. */
  readonly key: string;
  readonly chain: Chain;
}

/**
 * The primary network, those of the journal, then the definitions of the view; each once, and only those that support GC.
 * A generator, since a cluster may have thousands and the time is short.
 */
export async function* networksForGc(
  conf: NetConf,
  valid: readonly ValidAttachment[],
  needs: NetworksForGcNeeds,
): AsyncGenerator<GcNetwork> {
  const primary = await primaryNetwork(conf, needs);
  const seen = new Set<string>();
  const pick = (chain: Chain, key: string): readonly GcNetwork[] => {
    const isNew = seen.size < seen.add(stateKeyOf(chain)).size;
    const wantsIt = !chain.disableGC && supportsVerb(chain.cniVersion, "GC");
    return isNew && wantsIt ? [{ key, chain: { ...chain, isDefault: chain.confName === primary.conf.name } }] : [];
  };
  const isWhole = knowsAll(valid, needs);
  if (isWhole || !mayBeSecondary(primary.conf.name, needs))
    yield* pick(networkChain(primary.network, primary.conf), "");
  if (!isWhole) return;
  for (const record of needs.journal.all()) for (const chain of record.chains) yield* pick(chain, "");
  for (const definition of needs.rota.order(definitionsWithGc(needs))) {
    const chain = await chainOf(definition, conf, needs);
    if (chain !== undefined) yield* pick(chain, definition.key);
  }
}

/**
 * Whether the journal has every attachment of every living container. Otherwise a network's GC would get an incomplete
 * list and remove living attachments. A container that Levee did not attach counts as unknown: it may have more networks
 * than the primary one.
 */
function knowsAll(valid: readonly ValidAttachment[], { journal }: NetworksForGcNeeds): boolean {
  if (journal.losses().length > 0) return false;
  const halfKnown = new Set(journal.leaks().flatMap((leak) => (leak.chains.length === 0 ? [leak.containerId] : [])));
  return valid.every(({ containerID }) => !halfKnown.has(containerID) && journal.knows(containerID) === "live");
}

/**
 * Whether pods may have the primary network a second time. The runtime lists only their first interface, so GC would
 * remove the others of a container that the journal does not know.
 */
function mayBeSecondary(confName: string, { journal, view }: NetworksForGcNeeds): boolean {
  const isNamed = ({ name, config = "" }: NetworkDefinition): boolean =>
    config.includes(JSON.stringify(confName)) || (name === confName && !config.includes('"name"'));
  return (
    view.networks().some(isNamed) ||
    journal.all().some(({ chains }) => chains.some((chain) => !chain.isDefault && chain.confName === confName))
  );
}

/** Two definitions may share the name under which plugins keep state, and still use different plugins. */
function stateKeyOf(chain: Chain): string {
  return [chain.confName, ...chain.links.map((link) => link.type)].join("/");
}

/** A configuration that names none of these is too old for GC and need not be parsed. */
const gcVersions = supportedVersions.filter((version) => supportsVerb(version, "GC"));

type Keyed = NetworkDefinition & { readonly key: string };

function definitionsWithGc({ view }: NetworksForGcNeeds): readonly Keyed[] {
  return view
    .networks()
    .filter(({ config = "" }) => config.trim() === "" || gcVersions.some((version) => config.includes(version)))
    .map((definition) => ({ ...definition, key: `${definition.namespace}/${definition.name}` }));
}

async function chainOf(definition: Keyed, conf: NetConf, needs: NetworksForGcNeeds): Promise<Chain | undefined> {
  try {
    // People know the network by the definition's key.
    return networkChain(definition.key as NetworkName, (await sourceOf(definition, conf, needs)).conf);
  } catch (thrown) {
    // The network is unusable on this node now; the ADD of a pod that asks for it reports why.
    const reason = toLeveeError(thrown, "Reading").message;
    needs.logger.debug("Cannot run the GC of a network", { network: definition.key, reason });
    return undefined;
  }
}

/** One GC may have no time for thousands of networks, so the next GC goes on where it stopped. */
export class GcRota {
  #first: string | undefined;

  /** Networks with an empty key go first every time. */
  stopBefore(key: string): void {
    if (key !== "") this.#first = key;
  }

  order<T extends { readonly key: string }>(networks: readonly T[]): readonly T[] {
    const at = Math.max(
      0,
      networks.findIndex(({ key }) => key === this.#first),
    );
    this.#first = undefined;
    return [...networks.slice(at), ...networks.slice(0, at)];
  }
}
