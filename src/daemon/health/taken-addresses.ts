import type { Clock } from "../../base/clock.ts";
import type { Hand } from "../../hands/hand.ts";
import { addressNumber } from "../../lint/addresses/address-range.ts";
import { takenAddress } from "../../readiness/network-rules.ts";
import type { InterfaceAddress } from "./host-addresses.ts";
import { placeAddresses } from "./look-at-addresses.ts";
import type { NetworkText } from "./network-book.ts";
import { rangeNeed, rangesHave, type HostAddress, type RangeNeed } from "./range-need.ts";

/** One is enough to have the range changed. */
const takenMax = 3;
/** Configurations read in one go; an arriving call waits for no more than that. */
const batchSize = 20;
const breathMs = 5;

/**
 * Finds addresses of this host that networks give to pods on the same segment. Loaded where a configuration looks so:
 * what reads ranges takes more memory than all other looks at networks.
 */
export class TakenAddresses {
  readonly #clock: Clock;
  readonly #isStopped: () => boolean;
  readonly #needs = new WeakMap<NetworkText, RangeNeed | undefined>();

  constructor(clock: Clock, isStopped: () => boolean) {
    this.#clock = clock;
    this.#isStopped = isStopped;
  }

  /** Resolves to doubts by network. */
  async find(
    hand: Hand,
    addresses: readonly InterfaceAddress[],
    networks: readonly NetworkText[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    await this.#read(networks);
    const needs = networks.flatMap((network) => this.#needs.get(network) ?? []);
    const inRange = addresses.filter(({ text }) => needs.some((need) => rangesHave(need, addressNumber(text))));
    const placed = await placeAddresses(hand, inRange);
    return new Map(
      networks.map((network) => {
        const taken = placed.filter((address) => isTaken(this.#needs.get(network), address));
        return [network.network, taken.slice(0, takenMax).map(({ text, ifname }) => takenAddress(text, ifname))];
      }),
    );
  }

  async #read(networks: readonly NetworkText[]): Promise<void> {
    const unread = networks.filter((network) => !this.#needs.has(network));
    for (const [at, network] of unread.entries()) {
      const [namespace = "", name = ""] = network.network.split("/", 2);
      this.#needs.set(network, rangeNeed({ namespace, name, annotations: network.annotations, config: network.text }));
      if ((at + 1) % batchSize === 0) await this.#clock.sleep(breathMs);
      if (this.#isStopped()) return;
    }
  }
}

function isTaken(need: RangeNeed | undefined, { address, segments }: HostAddress): boolean {
  return need !== undefined && segments.has(need.segment) && rangesHave(need, address);
}
