import { asJsonText } from "../../cni/json-text.ts";
import { parseNetworkConf, type NetworkConf } from "../../cni/network-conf.ts";
import { ConfFileCache } from "./conf-file-cache.ts";

/** A node's pods share a few networks; what is seldom used is parsed again. */
const entriesMax = 128;
/** A configuration has about 1 KiB. It may have 256, and a hundred of those would be half of the daemon's memory. */
const charsMax = 2_097_152;

/**
 * Configurations by their text. Thousands of pods ask for the same few, and reading one takes longer than anything else
 * in a plan. A changed definition is another text, so nothing is ever stale.
 */
export class ConfCache {
  readonly #byText = new Map<string, NetworkConf>();
  /** Those of files on the node. */
  readonly files = new ConfFileCache();
  #chars = 0;

  parse(text: string, options: { readonly what: string; readonly defaultName?: string }): NetworkConf {
    const key = `${options.what}\0${options.defaultName ?? ""}\0${text}`;
    const known = this.#byText.get(key);
    if (known !== undefined) {
      // Put last again: the first is the one that was not used for longest.
      this.#byText.delete(key);
      this.#byText.set(key, known);
      return known;
    }
    const conf = parseNetworkConf(asJsonText(text, options.what), options);
    this.#byText.set(key, conf);
    this.#chars += key.length;
    this.#makeRoom();
    return conf;
  }

  get size(): number {
    return this.#byText.size;
  }

  #makeRoom(): void {
    for (const oldest of this.#byText.keys()) {
      if (this.#byText.size <= entriesMax && this.#chars <= charsMax) return;
      this.#byText.delete(oldest);
      this.#chars -= oldest.length;
    }
  }
}
