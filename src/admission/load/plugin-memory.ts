/** The assumed peak of a plugin that has not run yet. Calico's and Cilium's need 20 to 55 MiB. */
const unknownPeakBytes = 48 * 2 ** 20;
/**
 * The assumed memory of a hung plugin whose network has never finished a run. It sleeps early in its work, so it is not
 * at its peak. Any memory beyond that is in the usage that shims report, and counts as memory of others.
 */
const unknownHungBytes = 16 * 2 ** 20;
/** Share of the free memory in the runtime's cgroup. The other half is for the runtime and for starting containers. */
const shareOfHeadroom = 0.5;
/** The prediction falls slowly after a smaller peak, because a larger one may come again. */
const forgetShare = 0.1;
/** The most networks remembered. The one with the oldest run is forgotten first. A node uses some tens. */
const networksMax = 256;

/** The cgroup of the shims and all plugins, as a shim reports it. */
export interface RuntimeCgroup {
  /** Undefined without a limit. */
  readonly limitBytes: number | undefined;
  readonly usageBytes: number | undefined;
}

/**
 * Plugins run in the runtime's cgroup, and an OOM kill there may hit the runtime. So the plugins that run at once may
 * use half of that cgroup's free memory, by the observed peaks of each network.
 */
export class PluginMemory {
  readonly #peaks = new Map<string, number>();
  #runningBytes = 0;
  #roomBytes = Infinity;

  /** The most memory that a request needs. Its plugins run one after another, so the largest peak counts. */
  predict(networks: readonly string[]): number {
    let bytes = 0;
    for (const network of networks) bytes = Math.max(bytes, this.#peaks.get(network) ?? unknownPeakBytes);
    return bytes;
  }

  /** For a hung plugin, only its own network's observed peak, not the largest peak of its call. */
  predictHung(network: string): number {
    return this.#peaks.get(network) ?? unknownHungBytes;
  }

  /** Whether there is room. The first one always fits, because room may never come. */
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
    // Whole bytes: rounding errors of fractions would remain, and the sum would never be zero again.
    this.#peaks.set(network, Math.round(isSmaller ? known + (peakBytes - known) * forgetShare : peakBytes));
    const [oldest] = this.#peaks.keys();
    if (this.#peaks.size > networksMax && oldest !== undefined) this.#peaks.delete(oldest);
  }

  /** The usage includes the running plugins, which are already in `#runningBytes`, so they are subtracted. */
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

  /** Infinity while the cgroup has no limit, or before the first report. */
  get roomBytes(): number {
    return this.#roomBytes;
  }
}
