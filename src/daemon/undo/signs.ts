import { join } from "node:path";
import type { NetnsPath } from "../../base/brand.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { sameNetns } from "../../base/identity.ts";
import { ipamOf } from "../../cni/ipam.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { effectiveNetConf } from "../../config/net-conf.ts";
import type { Hand } from "../../hands/hand.ts";
import { resultFolders } from "../../hands/runtime-results.ts";
import type { Journal } from "../../state/journal/journal.ts";
import type { View } from "../../view/view.ts";
import { lacksLink } from "../../wire/netns-links.ts";
import type { ConfCache } from "../look-up/conf-cache.ts";
import { primaryNetwork } from "../look-up/networks.ts";
import type { HeldAddresses } from "./held-addresses.ts";
import type { LostContainer } from "./lost-container.ts";
import type { Residents } from "./residents.ts";
import type { NetnsNow } from "./netns-to-pass.ts";

export interface SignsNeeds {
  readonly bootId: string;
  readonly config: DaemonConfig;
  readonly journal: Pick<Journal, "inNetns">;
  readonly view: View;
  readonly confs: ConfCache;
  readonly residents: Pick<Residents, "hand">;
  readonly addresses: Pick<HeldAddresses, "find">;
}

const nowhere: NetnsNow = { path: "", identity: undefined };

/**
 * Looks for signs that a container was attached although the journal has no record of it: pods older than Levee, and
 * pods younger than a backup of the state folder. A plugin runs for such a container only when a sign is found, because
 * runtimes also delete sandboxes that never got a network, and do so many times.
 */
export class Signs {
  readonly #needs: SignsNeeds;

  constructor(needs: SignsNeeds) {
    this.#needs = needs;
  }

  /**
   * The sign as a text for people; undefined when there is none. The cheapest looks come first. Throws when a look fails
   * and no other finds a sign: nothing is known then.
   */
  async find(hand: Hand, container: LostContainer): Promise<string | undefined> {
    let read: Promise<Networks> | undefined;
    const networks = (): Promise<Networks> => (read ??= this.#networks(container));
    const looks = [
      () => this.#interface(hand, container),
      () => this.#resultFile(hand, container, networks),
      () => this.#address(container, networks),
    ];
    let failed: LeveeError | undefined;
    for (const look of looks) {
      const found = await look().catch((thrown: unknown) => {
        if (hand.isLost) throw thrown;
        failed ??= toLeveeError(thrown, "Looking");
        return undefined;
      });
      if (found !== undefined) return found;
    }
    if (failed === undefined) return undefined;
    const what = `Cannot see what is left of ${container.containerId}`;
    throw new LeveeError("try-later", `${what}: ${failed.message}`, { cause: failed });
  }

  /**
   * The namespace for the plugins of a container without a record. The caller's path counts, unless the namespace is
   * the host's own or another container of the journal is in it: plugins would remove interfaces of those.
   */
  async netnsOf(hand: Hand, { containerId, now }: LostContainer): Promise<NetnsNow> {
    const { journal, bootId } = this.#needs;
    const { identity } = now;
    if (identity === undefined || now.path === "") return nowhere;
    const others = journal.inNetns(identity).filter((record) => record.bootId === bootId);
    if (others.some((record) => record.containerId !== containerId)) return nowhere;
    const [own] = await hand.stat(["/proc/self/ns/net"]);
    return sameNetns(own, identity) ? nowhere : now;
  }

  async #interface(hand: Hand, container: LostContainer): Promise<string | undefined> {
    const { now, ifname } = container;
    const looker = hand.supports("links") ? hand : this.#needs.residents.hand();
    if (now.identity === undefined || now.path === "" || looker?.supports("links") !== true) return undefined;
    const links = await looker.links(now.path as NetnsPath); // the call's own, or the resident hand's to enter
    if (links === undefined || lacksLink(links, ifname)) return undefined;
    return (await this.netnsOf(hand, container)) === nowhere ? undefined : `${ifname} is in ${now.path}`;
  }

  /** libcni keeps a file per network of a container, from the end of its ADD to the end of its DEL. */
  async #resultFile(
    hand: Hand,
    container: LostContainer,
    networks: () => Promise<Networks>,
  ): Promise<string | undefined> {
    const { containerId, ifname } = container;
    const { conf, primary } = await networks();
    const names = [...new Set([primary.name, conf.name])].filter((name) => name !== "" && !name.includes("/"));
    const folders = resultFolders(this.#needs.config.runtimeCniDir);
    const paths = folders.flatMap((folder) => names.map((name) => join(folder, `${name}-${containerId}-${ifname}`)));
    const found = await hand.stat(paths);
    const path = paths.find((_, at) => found[at] !== undefined);
    return path === undefined ? undefined : `the runtime has its result in ${path}`;
  }

  async #address(container: LostContainer, networks: () => Promise<Networks>): Promise<string | undefined> {
    const resident = this.#needs.residents.hand();
    if (resident?.supports("list") !== true) return undefined;
    const { primary } = await networks();
    for (const dataDir of dataDirs(primary, join(this.#needs.config.runtimeCniDir, "networks"))) {
      const address = await this.#needs.addresses.find(resident, { dataDir, network: primary.name }, container);
      if (address !== undefined) return `host-local holds ${address} for it`;
    }
    return undefined;
  }

  async #networks(container: LostContainer): Promise<Networks> {
    const { config, view, confs } = this.#needs;
    const conf = effectiveNetConf(await container.config(), config);
    return { conf, primary: (await primaryNetwork(conf, { view, confs })).conf };
  }
}

/** The call's own configuration, and the primary network's. */
interface Networks {
  readonly conf: { readonly name: string };
  readonly primary: NetworkConf;
}

/** The folders of host-local that a network may use: the usual one, which plugins that call others use, and its own. */
function dataDirs({ plugins }: NetworkConf, usual: string): readonly string[] {
  const named = plugins.map(({ text }) => ipamOf(text).dataDir).filter((folder) => folder.startsWith("/"));
  return [...new Set([usual, ...named])];
}
