import type { Clock } from "../../base/clock.ts";
import type { Fleet } from "./fleet.ts";
import type { KeptDaemon } from "./kept-daemon.ts";
import type { LimitedGroup } from "./machine/limited-group.ts";
import { processMemory } from "./machine/process-memory.ts";
import { site } from "./site.ts";

/** The state of the storm at one moment. */
export interface Moment {
  readonly atMs: number;
  readonly attached: number;
  readonly waiting: number;
  /** Failed, and waiting for kubelet's retry. */
  readonly backingOff: number;
  readonly secondAttached: number;
  readonly secondWaiting: number;
  readonly usageBytes: number;
  /** Usage without the file cache that the kernel can drop at once, as `kubectl top` shows it. */
  readonly workingBytes: number;
  readonly anonBytes: number;
  readonly cpuMs: number;
  readonly isDaemonUp: boolean;
}

/** The peak of all shims and plugins together. */
export interface ShimPeak {
  readonly processes: number;
  readonly pssBytes: number;
  readonly anonBytes: number;
}

interface Watched {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly group: LimitedGroup;
  readonly daemon: KeptDaemon;
  /** Process IDs of the running calls. */
  readonly running: ReadonlySet<number>;
}

/** Fine enough for a plot; a look costs a fraction of a millisecond. */
const lookMs = 100;
/** This look reads the memory of every shim, which takes as long as several hundred other looks. */
const shimLookMs = 500;

/** Samples a storm while it runs. */
export class Series {
  readonly moments: Moment[] = [];
  readonly #watched: Watched;
  #shims: ShimPeak = { processes: 0, pssBytes: 0, anonBytes: 0 };

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  /** Starts sampling; `told` gets every moment. */
  start(told: (moment: Moment) => void): Disposable {
    const { clock } = this.#watched;
    const look = (): void => {
      const moment = this.#look();
      this.moments.push(moment);
      told(moment);
    };
    look();
    const cancels = [clock.every(lookMs, look), clock.every(shimLookMs, () => this.#lookAtShims())];
    return {
      [Symbol.dispose]() {
        for (const cancel of cancels) cancel();
        look();
      },
    };
  }

  get shims(): ShimPeak {
    return this.#shims;
  }

  #look(): Moment {
    const { fleet, group, daemon } = this.#watched;
    const counts = { attached: 0, waiting: 0, backingOff: 0, secondAttached: 0, secondWaiting: 0 };
    for (const { pod, phase } of fleet.records) {
      const isSecond = pod.namespace === site.namespaces.second;
      if (phase === "attached") counts[isSecond ? "secondAttached" : "attached"] += 1;
      else if (isSecond) counts.secondWaiting += 1;
      else counts[phase === "backing-off" ? "backingOff" : "waiting"] += 1;
    }
    const { usageBytes, inactiveFileBytes, anonBytes, cpuMs } = group.sample();
    const workingBytes = usageBytes - inactiveFileBytes;
    const isDaemonUp = daemon.pid !== undefined;
    return { atMs: fleet.nowMs(), ...counts, usageBytes, workingBytes, anonBytes, cpuMs, isDaemonUp };
  }

  #lookAtShims(): void {
    const now = processMemory(this.#watched.running);
    const before = this.#shims;
    this.#shims = {
      processes: Math.max(before.processes, now.processes),
      pssBytes: Math.max(before.pssBytes, now.pssBytes),
      anonBytes: Math.max(before.anonBytes, now.anonBytes),
    };
  }
}
