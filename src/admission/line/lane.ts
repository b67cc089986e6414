/** One network's share of the slots, and the lanes that want it. */
export class NetworkShare {
  readonly name: string;
  /** Permits that use it and hold a slot. */
  held = 0;
  /** Permits that use it and whose plugin hangs, so that they hold no slot. */
  hung = 0;
  /** The plugin that hung last; empty when unknown. */
  hungPlugin = "";
  /** It has not worked yet, or not since one of its plugins hung. */
  isDoubted = false;
  /** It fails, so only probes may go. */
  isOpen = false;
  /** Lanes that use it, have a request in line, and may go. */
  candidates = 0;
  /** Candidates without a doubted network. */
  trusted = 0;
  readonly lanes = new Set<Lane>();

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * All requests for the same set of networks; retries inside a call have a lane of their own. Within a class, either all
 * requests of a lane may go or none.
 */
export class Lane {
  readonly key: string;
  readonly networks: readonly NetworkShare[];
  readonly names: readonly string[];
  /** Its requests have failed, stay in their call, and wait for a probe of their network. */
  readonly isRetry: boolean;
  waiting = 0;
  /** Permits of this lane, including hung ones. */
  holders = 0;
  /** A request waits, and none of its networks is open. */
  isCandidate = false;
  /** It is a candidate, and none of its networks is doubted. */
  isTrusted = false;

  constructor(key: string, networks: readonly NetworkShare[], isRetry = false) {
    this.key = key;
    this.networks = networks;
    this.isRetry = isRetry;
    this.names = networks.map(({ name }) => name);
  }
}

/** For calls that never wait. */
export const noLane = new Lane("", []);
