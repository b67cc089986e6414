/** A configuration with a pod's annotations has some KiB; this is a storm of them, and a sixth of the daemon's memory. */
const bytesMax = 16_777_216;

/**
 * Configurations that calls without a slot may hold: only those whose pod is not known yet need one. Whoever finds no
 * room looks for the pod without it.
 */
export class EarlyConfigs {
  #bytes = 0;

  /** Room for this many bytes until it is disposed; undefined when there is none. */
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
