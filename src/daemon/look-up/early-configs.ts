/** A configuration with a pod's annotations has a few KiB. This holds a storm of them, and is a sixth of our memory. */
const bytesMax = 16_777_216;

/**
 * Limits the configurations that calls hold before they have a slot. Only a call whose pod is unknown needs one. Without
 * room, the call looks for its pod without the configuration.
 */
export class EarlyConfigs {
  #bytes = 0;

  /** Reserves this many bytes until it is disposed; undefined when there is no room. */
  take(bytes: number): Disposable | undefined {
    if (this.#bytes + bytes > bytesMax) return undefined;
    this.#bytes += bytes;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#bytes -= bytes;
        isHeld = false;
      },
    };
  }
}
