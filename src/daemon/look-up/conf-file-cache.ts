import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock, type Clock } from "../../base/clock.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { loadConfPath } from "./conf-files.ts";

/** A node has one or two that its own configuration names by path. */
const entriesMax = 16;
/** A file that was changed less long ago may change again and keep its time: clocks of file systems tick slowly. */
const settledMs = 2_000;

/**
 * Configurations of files at a path. Every ADD asks for the primary's, and to read it takes longer than anything else in
 * a plan; whether it is still the same file, with the same content, takes the kernel microseconds to say.
 */
export class ConfFileCache {
  readonly #clock: Clock;
  readonly #byPath = new Map<string, Known>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async load(path: string): Promise<NetworkConf> {
    const stamp = stampOf(path);
    const known = this.#byPath.get(path);
    if (known !== undefined && stamp?.text === known.stamp && !isThere(known.subFolder)) return known.conf;
    this.#byPath.delete(path);
    const conf = await loadConfPath(path);
    if (stamp !== undefined && this.#clock.wallMs() - stamp.changedWallMs > settledMs) this.#keep(path, stamp, conf);
    return conf;
  }

  #keep(path: string, { text }: Stamp, conf: NetworkConf): void {
    const subFolder = conf.isList && !conf.loadOnlyInlinedPlugins ? join(dirname(path), conf.name) : undefined;
    // With more files than this one to look at, or one that was changed while it was read, it is read each time.
    if (isThere(subFolder) || stampOf(path)?.text !== text) return;
    for (const oldest of this.#byPath.keys()) {
      if (this.#byPath.size < entriesMax) break;
      this.#byPath.delete(oldest);
    }
    this.#byPath.set(path, { stamp: text, subFolder, conf });
  }
}

interface Known {
  readonly stamp: string;
  /** Where plugins of its own would be; undefined when it may have none. */
  readonly subFolder: string | undefined;
  readonly conf: NetworkConf;
}

interface Stamp {
  readonly text: string;
  readonly changedWallMs: number;
}

/** Undefined for a folder, and for what cannot be looked at: whoever reads it says why. */
function stampOf(path: string): Stamp | undefined {
  try {
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts?.isFile() !== true) return undefined;
    const { dev, ino, size, mtimeMs, ctimeMs } = facts;
    return { text: `${dev} ${ino} ${size} ${mtimeMs} ${ctimeMs}`, changedWallMs: ctimeMs };
  } catch {
    return undefined;
  }
}

function isThere(path: string | undefined): boolean {
  return path !== undefined && statSync(path, { throwIfNoEntry: false }) !== undefined;
}
