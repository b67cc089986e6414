import { join } from "node:path";
import type { JsonText } from "../../base/brand.ts";
import type { Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain, ChainLink } from "../../cni/chain.ts";
import { ipamOf, type Ipam } from "../../cni/ipam.ts";
import { memberText } from "../../cni/json-text.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { lacksLink } from "../../wire/netns-links.ts";
import type { HeldAddresses } from "./held-addresses.ts";
import type { Residents } from "./residents.ts";
import { netnsAt, netnsToPass, type NetnsNow } from "./netns-to-pass.ts";
import type { ChainFailure } from "./undo-chains.ts";

export interface LeftoversNeeds {
  readonly bootId: string;
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "runtimeCniDir">;
  readonly logger: Logger;
  readonly journal: Pick<Journal, "inNetns">;
  readonly residents: Pick<Residents, "hand">;
  readonly addresses: Pick<HeldAddresses, "find">;
}

/** Plugins that set up an interface in the pod's namespace and an address, and nothing else on the node. */
const interfacePlugins: ReadonlySet<string> = new Set(["bridge", "dummy", "ipvlan", "macvlan", "ptp", "vlan"]);
/** Settings with which they also write firewall rules. */
const ruleSettings = ["ipMasq", "macspoofchk"];
/** IPAM plugins that keep nothing. */
const keepsNothing: ReadonlySet<string> = new Set(["", "static"]);
/**
 * An IPAM plugin whose daemon holds the leases. It asks the daemon first, at ADD as at DEL: an ADD that failed with the
 * words of its undo met no daemon, so it has no lease.
 */
const asksDaemon = "dhcp";
/** A call waits for the looks, and they take milliseconds. */
const looksMsMax = 1_000;

/**
 * Looks for what a plugin left behind when its DEL failed. Some plugins fail DEL although nothing is left, for example
 * macvlan 1.1 when its master does not exist, or dhcp without its daemon. Where interface and address are proven absent
 * there is no leak.
 */
export class Leftovers {
  readonly #needs: LeftoversNeeds;

  constructor(needs: LeftoversNeeds) {
    this.#needs = needs;
  }

  /** The failures that may have left something. A look that fails or takes too long proves nothing. */
  async leftBy(
    record: AttachmentRecord,
    failures: readonly ChainFailure[],
    place: { readonly hand: Hand; readonly now: NetnsNow },
  ): Promise<readonly ChainFailure[]> {
    const { clock } = this.#needs;
    const endsMs = clock.monotonicMs() + looksMsMax;
    const left: ChainFailure[] = [];
    for (const failure of failures) {
      const chain = record.chains[failure.index];
      const restMs = endsMs - clock.monotonicMs();
      const isGone = chain !== undefined && (await this.#inTime(this.#isGone(record, chain, failure, place), restMs));
      if (isGone) this.#log(record, failure);
      else left.push(failure);
    }
    return left;
  }

  async #isGone(
    record: AttachmentRecord,
    chain: Chain,
    failure: ChainFailure,
    place: { readonly hand: Hand; readonly now: NetnsNow },
  ): Promise<boolean> {
    const metNoDaemon = isRefusedAgain(record, failure);
    const known = failure.links.map(knownIpam);
    if (!known.every((ipam) => ipam !== undefined)) return false;
    try {
      if (await this.#hasInterface(record, chain, place)) return false;
      const asked = known.filter(({ type }) => type !== asksDaemon || !metNoDaemon);
      for (const ipam of asked) if (await this.#mayHoldAddress(record, chain, ipam)) return false;
      return true;
    } catch (thrown) {
      if (place.hand.isLost) throw thrown;
      const reason = toLeveeError(thrown, "Looking").message;
      this.#needs.logger.warn("Cannot look for what is left of a container", { container: record.containerId, reason });
      return false;
    }
  }

  async #hasInterface(
    record: AttachmentRecord,
    { ifname }: Chain,
    { hand, now }: { readonly hand: Hand; readonly now: NetnsNow },
  ): Promise<boolean> {
    const netns = netnsToPass(record, await ownNetns(hand, record, now), this.#needs);
    // Interfaces of these plugins end with their namespace.
    if (netns === "") return false;
    const looker = hand.supports("links") ? hand : this.#needs.residents.hand();
    if (looker?.supports("links") !== true) return true;
    const links = await looker.links(netns);
    return links !== undefined && !lacksLink(links, ifname);
  }

  async #mayHoldAddress(record: AttachmentRecord, chain: Chain, ipam: Ipam): Promise<boolean> {
    if (keepsNothing.has(ipam.type)) return false;
    const resident = this.#needs.residents.hand();
    if (ipam.type !== "host-local" || resident?.supports("list") !== true) return true;
    const dataDir = ipam.dataDir === "" ? join(this.#needs.config.runtimeCniDir, "networks") : ipam.dataDir;
    const place = { dataDir, network: chain.confName };
    const key = { containerId: record.containerId, ifname: chain.ifname };
    return (await this.#needs.addresses.find(resident, place, key)) !== undefined;
  }

  async #inTime(look: Promise<boolean>, ms: number): Promise<boolean> {
    let stopTimer = (): void => undefined;
    const late = new Promise<boolean>((resolve) => {
      stopTimer = this.#needs.clock.after(Math.max(0, ms), () => resolve(false));
    });
    try {
      return await Promise.race([look, late]);
    } finally {
      stopTimer();
    }
  }

  #log(record: AttachmentRecord, { error }: ChainFailure): void {
    this.#needs.logger.info("A plugin failed to undo, but nothing of it is left", {
      container: record.containerId,
      reason: error.message,
    });
  }
}

/** A call may name no namespace although the record's own is still there. */
async function ownNetns(hand: Hand, { netns }: AttachmentRecord, now: NetnsNow): Promise<NetnsNow> {
  if (now.path !== "" || netns.identity === undefined) return now;
  return { path: netns.path, identity: await netnsAt(hand, netns.path) };
}

/** Whether no plugin of the failure had succeeded at ADD, and ADD failed with the same words. */
function isRefusedAgain({ failure: ofAdd }: AttachmentRecord, { error, linksAdded }: ChainFailure): boolean {
  return linksAdded === 0 && error.code === "delegate-failed" && ofAdd?.message.includes(error.message) === true;
}

/** Undefined for a plugin whose leftovers Levee does not know. */
function knownIpam({ type, stdin }: ChainLink): Ipam | undefined {
  const isKnown = interfacePlugins.has(type) && !ruleSettings.some((key) => isSet(memberText(stdin, key)));
  return isKnown ? ipamOf(stdin) : undefined;
}

function isSet(value: JsonText | undefined): boolean {
  return value !== undefined && value !== "null" && value !== "false";
}
