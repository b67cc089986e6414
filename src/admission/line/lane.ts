/** One network's part of the slots, and who wants it. */
export class NetworkShare {
  readonly name: string;
  /** Permits that count and use it. */
  held = 0;
  /** Its delegates that hang and are out of the count. */
  hung = 0;
  /** The plugin that hung last; empty when nobody said which. */
  hungPlugin = "";
  /** It has not worked yet, or not since a delegate of it began to hang. */
  isDoubted = false;
  /** It fails, and only probes are let through. */
  isOpen = false;
  /** Lanes with somebody in line that use it and may go. */
  candidates = 0;
  /** Those of them with no network that is doubted. */
  trusted = 0;
  readonly lanes = new Set<Lane>();

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * All requests that ask for the same set of networks, retries inside a call apart: whether one of them may go is the
 * same for all of a class.
 */
export class Lane {
  readonly key: string;
  readonly networks: readonly NetworkShare[];
  readonly names: readonly string[];
  /** Those in it have failed and stay: a probe of their network is what they wait for. */
  readonly isRetry: boolean;
  waiting = 0;
  /** Permits of this lane, hung ones included. */
  holders = 0;
  /** Somebody waits, and none of its networks is open. */
  isCandidate = false;
  /** It is a candidate, and none of its networks is doubted. */
  isTrusted = false;
  /** When a network of it was last found to work again: nobody is late for what came before. */
  clearedMs = 0;

  constructor(key: string, networks: readonly NetworkShare[], isRetry = false) {
    this.key = key;
    this.networks = networks;
    this.isRetry = isRetry;
    this.names = networks.map(({ name }) => name);
  }
}

/** For what never waits. */
export const noLane = new Lane("", []);
