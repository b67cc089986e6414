import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock, type Clock } from "../../base/clock.ts";
import type { NetworkConf } from "../../cni/network-conf.ts";
import { loadConfPath } from "./conf-files.ts";

/** A node's configuration names one or two files by path. */
const entriesMax = 16;
/** A file changed more recently may change again within the same timestamp: file system clocks tick slowly. */
const settledMs = 2_000;

/**
 * Parsed configurations of files. Every ADD asks for the primary network's, and reading it is the slowest part of a plan.
 * A `stat` takes microseconds and shows whether the file has changed.
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
    // Not kept: a configuration of several files, or a file that changed while it was read.
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
  /** The folder that may add plugins to the list; undefined when the list allows none. */
  readonly subFolder: string | undefined;
  readonly conf: NetworkConf;
}

interface Stamp {
  readonly text: string;
  readonly changedWallMs: number;
}

/** Undefined for a folder, and for a path that cannot be read: reading it gives the error. */
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
