/** What a plugin is taken to need before it has run: Calico's and Cilium's need 20 to 55 MiB. */
const unknownPeakBytes = 48 * 2 ** 20;
/**
 * What one that hangs before its network has ever ended a run is taken to hold: it sleeps early in its work, so it is
 * not at its peak. Whatever it has beyond that is in the usage that shims see, and counts there as that of others.
 */
const unknownHungBytes = 16 * 2 ** 20;
/** Of what is free in the runtime's cgroup: the other half is the runtime's own and the containers' that start. */
const shareOfHeadroom = 0.5;
/** A smaller peak is believed slowly, as a larger one may come again. */
const forgetShare = 0.1;
/** Networks remembered; those that have not run lately are forgotten first. A node uses some tens. */
const networksMax = 256;

/** What a shim says of the cgroup in which it and all delegates run. */
export interface RuntimeCgroup {
  /** Undefined when it is not limited. */
  readonly limitBytes: number | undefined;
  readonly usageBytes: number | undefined;
}

/**
 * Delegates run in the runtime's cgroup, and an OOM kill there may hit the runtime. So what runs at once is kept to
 * half of what that cgroup has free, by the peaks that each network's plugins have had so far.
 */
export class PluginMemory {
  readonly #peaks = new Map<string, number>();
  #runningBytes = 0;
  #roomBytes = Infinity;

  /** What a request will need at most: its plugins run one after another, so the largest counts. */
  predict(networks: readonly string[]): number {
    let bytes = 0;
    for (const network of networks) bytes = Math.max(bytes, this.#peaks.get(network) ?? unknownPeakBytes);
    return bytes;
  }

  /** What a delegate of this network that hangs holds: no longer the most that any of its call's plugins may need. */
  predictHung(network: string): number {
    return this.#peaks.get(network) ?? unknownHungBytes;
  }

  /** Whether there is room for it. One always fits: waiting for a room that never comes would help nobody. */
  fits(bytes: number): boolean {
    return this.#runningBytes === 0 || this.#runningBytes + bytes <= this.#roomBytes;
  }

  taken(bytes: number): void {
    this.#runningBytes += bytes;
  }

  freed(bytes: number): void {
    this.#runningBytes -= bytes;
  }

  ran(network: string, peakBytes: number): void {
    const known = this.#peaks.get(network);
    this.#peaks.delete(network);
    const isSmaller = known !== undefined && peakBytes < known;
    // Whole bytes: of fractions that come and go something would be left over, and never again would nothing run.
    this.#peaks.set(network, Math.round(isSmaller ? known + (peakBytes - known) * forgetShare : peakBytes));
    const [oldest] = this.#peaks.keys();
    if (this.#peaks.size > networksMax && oldest !== undefined) this.#peaks.delete(oldest);
  }

  /** What runs now is part of the usage that was seen, so it is counted as free: it is in `#runningBytes` already. */
  observed({ limitBytes, usageBytes }: RuntimeCgroup): void {
    if (limitBytes === undefined || usageBytes === undefined) {
      this.#roomBytes = Infinity;
      return;
    }
    const othersBytes = Math.max(0, usageBytes - this.#runningBytes);
    this.#roomBytes = Math.max(0, limitBytes - othersBytes) * shareOfHeadroom;
  }

  get runningBytes(): number {
    return this.#runningBytes;
  }

  /** Infinity while the cgroup is not limited, or nobody has told. */
  get roomBytes(): number {
    return this.#roomBytes;
  }
}
