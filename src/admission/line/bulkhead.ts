import { Lane, NetworkShare } from "./lane.ts";

/** Hung delegates that may be out of the count: each is a process, and this many sleeping ones cost little but memory. */
const hungMax = 64;

/** Slots of a network that has not worked yet, or hangs, while others wait: enough to find out. */
const doubtedSlots = 1;

interface BulkheadRules {
  /** Whether a network fails, so that only probes of it may go. */
  isOpen(network: string): boolean;
  /** Whether it has ever worked. */
  hasWorked(network: string): boolean;
}

/**
 * Keeps any one network from taking all slots: it holds at most half of them (rounded up, so that an odd slot is not
 * idle) while somebody waits who does not use it, and one until it has worked; for those who wait for such a network no
 * more than that is kept. A network that all who wait have in common, such as the primary, may have the rest too, as
 * nobody else could use it; not so while a delegate of it hangs.
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

  /** The lane of a set of networks; the order in which they are named does not matter. */
  lane(networks: readonly string[], isRetry = false): Lane {
    const names = [...new Set(networks)].toSorted();
    // No network has a line break in its name.
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

  /** The network that keeps this lane from going now; undefined when it may. */
  full(lane: Lane, slots: number): string | undefined {
    return lane.networks.find((network) => network.held >= this.#share(network, slots))?.name;
  }

  /** A network has opened or closed. While it is open its lanes count for nobody: no slot need be kept for them. */
  look(name: string, nowMs: number): void {
    const network = this.#networks.get(name);
    if (network === undefined) return;
    network.isOpen = this.#rules.isOpen(name);
    for (const lane of network.lanes) {
      if (!network.isOpen) lane.clearedMs = nowMs;
      this.#judge(lane);
    }
  }

  /** Takes a permit whose delegate hangs out of the count. False when there are too many of them already. */
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

  /** The delegate moves again, or has ended. */
  unhang(lane: Lane, name: string): void {
    this.#hung -= 1;
    for (const network of lane.networks) {
      network.held += 1;
      if (network.name === name) network.hung -= 1;
    }
  }

  /** A delegate of the network has done what it was asked for. */
  worked(name: string): void {
    const network = this.#networks.get(name);
    if (network !== undefined) this.#doubt(network, false);
  }

  /** A network of this lane in which delegates hang now, and none has worked since. */
  hanging(lane: Lane): NetworkShare | undefined {
    return lane.networks.find(({ hung, isDoubted }) => hung > 0 && isDoubted);
  }

  /** Lanes and networks that are remembered: those in use and no more. */
  get size(): number {
    return this.#lanes.size + this.#networks.size;
  }

  #share(network: NetworkShare, slots: number): number {
    const half = Math.max(1, Math.ceil(slots / 2));
    const { isDoubted, candidates, trusted } = network;
    const isAll = isDoubted ? candidates === this.#candidates : trusted === this.#trusted;
    if (isAll) return network.hung === 0 ? Infinity : half;
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
