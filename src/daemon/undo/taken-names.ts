import { LeveeError } from "../../base/errors.ts";
import { isCertainlySameNetns, sameNetns } from "../../base/identity.ts";
import type { NetnsPath } from "../../base/brand.ts";
import type { Chain } from "../../cni/chain.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { isAmongLinks } from "../../wire/call-netns.ts";
import type { CallHeader } from "../../wire/messages.ts";
import { lacksLink, type NetnsLinks } from "../../wire/netns-links.ts";
import { isKernelInterface } from "./kernel-interface.ts";

export interface TakenNamesNeeds {
  readonly bootId: string;
  readonly journal: Pick<Journal, "inNetns">;
}

/** The part of an ADD that this needs. */
interface CallInNetns {
  readonly header: Pick<CallHeader, "containerId" | "links" | "netns" | "netnsIdentity">;
  readonly hand: Pick<Hand, "links" | "stat" | "supports">;
}

interface CallInHost {
  readonly header: Pick<CallHeader, "mayBeOwnNetns" | "netns" | "netnsIdentity" | "ownNetns">;
  readonly hand: Pick<Hand, "stat">;
}

/**
 * The interface names that an ADD cannot have in its namespace: plugins would fail, and the undo would remove the
 * interface of another container, or they would change an interface that is not theirs, as `lo`.
 */
export class TakenNames {
  readonly #needs: TakenNamesNeeds;

  constructor(needs: TakenNamesNeeds) {
    this.#needs = needs;
  }

  /** In the host's namespace, plugins would change the host's own interfaces. A caller may ask for just that. */
  async refuseHost({ header, hand }: CallInHost): Promise<void> {
    if (header.mayBeOwnNetns) return;
    const own = header.ownNetns ?? (await hand.stat(["/proc/self/ns/net"]))[0];
    if (!sameNetns(own, header.netnsIdentity)) return;
    throw new LeveeError(
      "env-invalid",
      `Cannot attach as CNI_NETNS is the network namespace of the host: current value is ${header.netns}`,
    );
  }

  /** Refuses names of other containers and names that are in the namespace already. */
  async refuse(call: CallInNetns, ifnames: ReadonlySet<string>): Promise<void> {
    const { containerId, netns, netnsIdentity, links } = call.header;
    if (netnsIdentity === undefined) return;
    const { bootId, journal } = this.#needs;
    const others = journal.inNetns(netnsIdentity).filter((other) => other.bootId === bootId);
    const claimed = others.filter((other) => other.chains.some(({ ifname }) => ifnames.has(ifname)));
    const present = [...ifnames].filter((ifname) => isAmongLinks(links, ifname));
    if (claimed.length === 0 && present.length === 0) return;
    // The call may have waited since it told the names, and the rest of an earlier ADD may be undone by now.
    const now = await linksNow(call);
    for (const other of claimed) await this.#refuseOf(call, other, ifnames, now);
    const taken = now === undefined ? present[0] : present.find((ifname) => now.names.includes(ifname));
    if (taken === undefined) return;
    throw new LeveeError(
      "interface-taken",
      `Cannot attach ${containerId} as ${taken}: there is an interface ${taken} in ${netns} already`,
    );
  }

  async #refuseOf(
    call: CallInNetns,
    other: AttachmentRecord,
    ifnames: ReadonlySet<string>,
    now: NetnsLinks | undefined,
  ): Promise<void> {
    const isGone = (chain: Chain, index: number): boolean =>
      isMissing(chain.ifname, now) && isKernelInterface(chain, other, index);
    const taken = other.chains.find((chain, index) => ifnames.has(chain.ifname) && !isGone(chain, index));
    if (taken === undefined || !(await this.#isInNetnsOf(call, other))) return;
    const { containerId, netns } = call.header;
    throw new LeveeError(
      "interface-taken",
      `Cannot attach ${containerId}: ${taken.ifname} in ${netns} belongs to container ${other.containerId}; delete that first`,
    );
  }

  /** Whether an earlier attachment of the call's own container is in the call's namespace, and its interface too. */
  async find(call: CallInNetns, earlier: AttachmentRecord): Promise<"there" | "interface gone" | "elsewhere"> {
    // A record from Multus has no identity, so it counts as the same namespace.
    const isHere = earlier.netns.identity === undefined || (await this.#isInNetnsOf(call, earlier));
    if (!isHere) return "elsewhere";
    // Then the record is not stale, and the runtime must delete what it has added.
    if (isCertainlySameNetns(earlier.netns.identity, call.header.netnsIdentity)) return "there";
    const index = earlier.chains.findIndex(({ ifname }) => ifname === earlier.ifname);
    const chain = earlier.chains[index];
    if (chain === undefined || !isKernelInterface(chain, earlier, index)) return "there";
    return isMissing(chain.ifname, await linksNow(call)) ? "interface gone" : "there";
  }

  /**
   * Whether a record's namespace is the call's. Without a cookie the numbers do not prove it, so the record's own path
   * must still lead there.
   */
  async #isInNetnsOf(call: CallInNetns, record: AttachmentRecord): Promise<boolean> {
    const { netns, netnsIdentity } = call.header;
    const { identity, path } = record.netns;
    if (record.bootId !== this.#needs.bootId || !sameNetns(identity, netnsIdentity)) return false;
    if (path === netns || isCertainlySameNetns(identity, netnsIdentity)) return true;
    const [found] = await call.hand.stat([path]);
    return sameNetns(found, netnsIdentity);
  }
}

/** An unseen namespace may have it. */
function isMissing(ifname: string, now: NetnsLinks | undefined): boolean {
  return now !== undefined && lacksLink(now, ifname);
}

/** Undefined when the shim is too old to tell, or the namespace is gone. */
async function linksNow(call: CallInNetns): Promise<NetnsLinks | undefined> {
  if (!call.hand.supports("links")) return undefined;
  return await call.hand.links(call.header.netns as NetnsPath); // ADD came with it, so it is checked
}
