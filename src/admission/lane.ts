/** One network's part of the slots, and who wants it. */
export class NetworkShare {
  readonly name: string;
  /** Permits that count and use it. */
  held = 0;
  /** Its delegates that hang and are out of the count. */
  hung = 0;
  /** It fails, and only probes are let through. */
  isOpen = false;
  /** Lanes with somebody in line that use it and may go. */
  candidates = 0;
  readonly lanes = new Set<Lane>();

  constructor(name: string) {
    this.name = name;
  }
}

/** All requests that ask for the same set of networks: whether one of them may go is the same for all. */
export class Lane {
  readonly key: string;
  readonly networks: readonly NetworkShare[];
  readonly names: readonly string[];
  waiting = 0;
  /** Permits of this lane, hung ones included. */
  holders = 0;
  /** Somebody waits, and none of its networks is open. */
  isCandidate = false;

  constructor(key: string, networks: readonly NetworkShare[]) {
    this.key = key;
    this.networks = networks;
    this.names = networks.map(({ name }) => name);
  }
}
