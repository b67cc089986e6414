import { Lane, NetworkShare } from "./lane.ts";

/** The most hung plugins without a slot. Each is a process, and so many sleeping ones cost only memory. */
const hungMax = 64;

/** Slots of a doubted network while other calls wait: enough to find out whether it works. */
const doubtedSlots = 1;

interface BulkheadRules {
  /** Whether a network fails, so that only its probes may go. */
  isOpen(network: string): boolean;
  /** Whether a network has ever worked. */
  hasWorked(network: string): boolean;
  /** Whether half of the slots stay free of a network with a hung plugin even if no other call waits. */
  readonly sparesSlots: boolean;
}

/**
 * Keeps one network from taking all slots. While a request without this network waits, the network gets at most half of
 * the slots (rounded up, so that an odd slot is not idle), and only one until it has worked. No more than one slot is
 * kept for requests that wait for such a doubted network. A network that all requests in line use, such as the primary,
 * may take all slots, unless a plugin of it hangs.
 */
export class Bulkhead {
  readonly #lanes = new Map<string, Lane>();
  readonly #networks = new Map<string, NetworkShare>();
  readonly #rules: BulkheadRules;
  #candidates = 0;
  #trusted = 0;
  #hung = 0;

  constructor(rules: BulkheadRules) {
    this.#rules = rules;
  }

  get hung(): number {
    return this.#hung;
  }

  /** The lane of a set of networks in any order. */
  lane(networks: readonly string[], isRetry = false): Lane {
    const names = [...new Set(networks)].toSorted();
    // Network names have no line breaks.
    const key = `${isRetry ? "again\n\n" : ""}${names.join("\n")}`;
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const lane = new Lane(
      key,
      names.map((name) => this.#network(name)),
      isRetry,
    );
    for (const network of lane.networks) network.lanes.add(lane);
    this.#lanes.set(key, lane);
    return lane;
  }

  joined(lane: Lane): void {
    lane.waiting += 1;
    this.#judge(lane);
  }

  left(lane: Lane): void {
    lane.waiting -= 1;
    this.#judge(lane);
    this.#forgetUnused(lane);
  }

  taken(lane: Lane): void {
    lane.holders += 1;
    for (const network of lane.networks) network.held += 1;
  }

  freed(lane: Lane): void {
    lane.holders -= 1;
    for (const network of lane.networks) network.held -= 1;
    this.#forgetUnused(lane);
  }

  /** The network that blocks this lane now; undefined when the lane may go. */
  full(lane: Lane, slots: number): string | undefined {
    return lane.networks.find((network) => network.held >= this.#share(network, slots))?.name;
  }

  /** A network has opened or closed. While it is open, no slot is kept for its lanes. */
  look(name: string): void {
    const network = this.#networks.get(name);
    if (network === undefined) return;
    network.isOpen = this.#rules.isOpen(name);
    for (const lane of network.lanes) this.#judge(lane);
  }

  /** Takes the slot of a permit whose plugin hangs. Returns false when too many hang already. */
  hang(lane: Lane, name: string, plugin = ""): boolean {
    const culprit = lane.networks.find((network) => network.name === name);
    if (culprit === undefined || this.#hung >= hungMax) return false;
    this.#hung += 1;
    culprit.hung += 1;
    culprit.hungPlugin = plugin;
    this.#doubt(culprit, true);
    for (const network of lane.networks) network.held -= 1;
    return true;
  }

  /** The plugin moves again, or has ended. */
  unhang(lane: Lane, name: string): void {
    this.#hung -= 1;
    for (const network of lane.networks) {
      network.held += 1;
      if (network.name === name) network.hung -= 1;
    }
  }

  /** A plugin of the network has succeeded. */
  worked(name: string): void {
    const network = this.#networks.get(name);
    if (network !== undefined) this.#doubt(network, false);
  }

  /** A network of this lane with hung plugins and no success since. */
  hanging(lane: Lane): NetworkShare | undefined {
    return lane.networks.find(({ hung, isDoubted }) => hung > 0 && isDoubted);
  }

  /** The number of remembered lanes and networks. Only those in use are remembered. */
  get size(): number {
    return this.#lanes.size + this.#networks.size;
  }

  #share(network: NetworkShare, slots: number): number {
    const half = Math.max(1, Math.ceil(slots / 2));
    const { isDoubted, candidates, trusted } = network;
    const isAll = isDoubted ? candidates === this.#candidates : trusted === this.#trusted;
    if (isAll) return network.hung === 0 || !this.#rules.sparesSlots ? Infinity : half;
    return isDoubted ? doubtedSlots : half;
  }

  #doubt(network: NetworkShare, isDoubted: boolean): void {
    if (network.isDoubted === isDoubted) return;
    network.isDoubted = isDoubted;
    for (const lane of network.lanes) this.#judge(lane);
  }

  #judge(lane: Lane): void {
    const isCandidate = lane.waiting > 0 && lane.networks.every((network) => !network.isOpen);
    const isTrusted = isCandidate && lane.networks.every((network) => !network.isDoubted);
    const [candidates, trusted] = [
      Number(isCandidate) - Number(lane.isCandidate),
      Number(isTrusted) - Number(lane.isTrusted),
    ];
    if (candidates === 0 && trusted === 0) return;
    lane.isCandidate = isCandidate;
    lane.isTrusted = isTrusted;
    this.#candidates += candidates;
    this.#trusted += trusted;
    for (const network of lane.networks) {
      network.candidates += candidates;
      network.trusted += trusted;
    }
  }

  #network(name: string): NetworkShare {
    const known = this.#networks.get(name);
    if (known !== undefined) return known;
    const network = new NetworkShare(name);
    network.isOpen = this.#rules.isOpen(name);
    network.isDoubted = !this.#rules.hasWorked(name);
    this.#networks.set(name, network);
    return network;
  }

  #forgetUnused(lane: Lane): void {
    if (lane.waiting > 0 || lane.holders > 0) return;
    this.#lanes.delete(lane.key);
    for (const network of lane.networks) {
      network.lanes.delete(lane);
      if (network.lanes.size === 0) this.#networks.delete(network.name);
    }
  }
}
