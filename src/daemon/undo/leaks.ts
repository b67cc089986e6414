import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { Chain } from "../../cni/chain.ts";
import type { AttachmentKey, AttachmentRecord } from "../../state/journal/attachment-record.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { leakOf, unknownLeak, type LeakEntry, type UnknownFacts } from "../../state/journal/leak-ledger.ts";
import { lastResult } from "../chains/steps.ts";
import type { EventTeller } from "../tell/event-teller.ts";
import type { NetnsNow } from "./netns-to-pass.ts";
import type { ChainFailure } from "./undo-chains.ts";

export interface LeaksNeeds {
  readonly clock: Clock;
  readonly bootId: string;
  readonly journal: Pick<Journal, "leak" | "leaks" | "leakResolved">;
  readonly logger: Logger;
  readonly eventTeller: EventTeller;
}

/** The leak ledger, as undo writes it. An entry is also logged and told: a person may be looking for the address. */
export class Leaks {
  readonly #needs: LeaksNeeds;

  constructor(needs: LeaksNeeds) {
    this.#needs = needs;
  }

  /** Writes each failure once, and resolves the entries of an earlier try that this one has undone. */
  async settle(record: AttachmentRecord, now: NetnsNow, failures: readonly ChainFailure[]): Promise<void> {
    const known = this.#known(record);
    for (const [index, entry] of known) {
      if (!failures.some((failure) => failure.index === index)) await this.#needs.journal.leakResolved(entry.id);
    }
    const isNew = ({ index }: ChainFailure): boolean => !known.some(([position]) => position === index);
    await this.add(record, now, failures.filter(isNew));
  }

  async add(record: AttachmentRecord, now: NetnsNow, failures: readonly ChainFailure[]): Promise<void> {
    const seen = withIdentity(record, now, this.#needs.bootId);
    // Without a prevResult some plugins take nothing away and succeed.
    const results = seen.chains.map((_chain, index) => seen.results[index] ?? lastResult(seen, index));
    for (const { index, links, error, hasTimedOut, linksAdded } of failures) {
      const chains = seen.chains.map((chain, at) => (at === index ? { ...chain, links } : chain));
      const leak = leakOf({ ...seen, chains, results }, [index], error.message, this.#needs.clock);
      await this.#keep({ ...leak, hasTimedOut, linksAdded });
    }
  }

  /** A container whose record is lost, so that its networks are unknown. */
  async addUnknown(container: AttachmentKey, facts: UnknownFacts): Promise<void> {
    await this.#keep(unknownLeak(container, facts, this.#needs.clock));
  }

  async #keep(leak: LeakEntry): Promise<void> {
    const { journal, logger, eventTeller } = this.#needs;
    await journal.leak(leak);
    const networks = leak.chains.map((chain) => `${chain.network} (${chain.ifname})`).join(", ");
    logger.error("Something could not be undone and is kept in the leak ledger", {
      container: leak.containerId,
      networks,
      reason: leak.reason,
    });
    const what = networks === "" ? `an attachment of container ${leak.containerId}` : networks;
    const message = `Could not undo ${what}: ${leak.reason}; it is tried again, see levee leaks`;
    const { pod } = leak;
    if (pod !== undefined && pod.name !== "")
      eventTeller.aboutPod(pod, { type: "Warning", reason: "NetworkLeaked", message });
    else eventTeller.aboutNode({ type: "Warning", reason: "NetworkLeaked", message });
  }

  /** Entries of a daemon that died before it could end the record, each with the index of its chain. */
  #known(record: AttachmentRecord): readonly (readonly [number, LeakEntry])[] {
    const entries = this.#needs.journal.leaks().filter((entry) => entry.containerId === record.containerId);
    return record.chains.flatMap((chain, index) =>
      entries
        .filter((entry) => entry.chains.some((other) => isOfChain(other, chain)))
        .map((entry) => [index, entry] as const),
    );
  }
}

/**
 * A record from Multus, or one that was rebuilt, knows its namespace only by path. The entry gets the identity seen now,
 * so that a later try does not confuse it with another namespace at that path.
 */
function withIdentity(record: AttachmentRecord, now: NetnsNow, bootId: string): AttachmentRecord {
  return record.netns.identity === undefined ? { ...record, netns: now, bootId } : record;
}

/** Whether an entry is of this chain. It has the links that were still to undo, which may be all. */
function isOfChain(entry: Chain, chain: Chain): boolean {
  const hasItsLinks = entry.links.every((link) => chain.links.some((other) => other.stdin === link.stdin));
  return entry.network === chain.network && entry.ifname === chain.ifname && hasItsLinks;
}
