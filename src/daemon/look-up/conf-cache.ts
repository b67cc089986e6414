import { asJsonText } from "../../cni/json-text.ts";
import { parseNetworkConf, type NetworkConf } from "../../cni/network-conf.ts";
import { ConfFileCache } from "./conf-file-cache.ts";

/** A node's pods share a few networks. A seldom used one is parsed again. */
const entriesMax = 128;
/** A configuration has about 1 KiB but may have 256, and a hundred of those would be half of the daemon's memory. */
const charsMax = 2_097_152;

/**
 * Parsed configurations by their text. Thousands of pods ask for the same few, and parsing is the slowest part of a plan.
 * A changed definition has another text, so an entry is never stale.
 */
export class ConfCache {
  readonly #byText = new Map<string, NetworkConf>();
  /** Configurations of files on the node. */
  readonly files = new ConfFileCache();
  #chars = 0;

  parse(text: string, options: { readonly what: string; readonly defaultName?: string }): NetworkConf {
    const key = `${options.what}\0${options.defaultName ?? ""}\0${text}`;
    const known = this.#byText.get(key);
    if (known !== undefined) {
      // Moved to the end, so that the first entry is the least recently used.
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
