import { systemClock, type Cancel } from "../../src/base/clock.ts";
import type { GroupSample } from "../../src/cli/storm/machine/group-sample.ts";
import type { LimitedGroup } from "../../src/cli/storm/machine/limited-group.ts";

/** Ten samples a second cost less than a hundredth of a core. */
const everyMs = 100;
export const mib = 1024 ** 2;

export interface GroupPeaks {
  /** The kernel's own peak. */
  readonly peakMib: number;
  /** The highest of our samples, because the kernel keeps no such peak. */
  readonly anonPeakMib: number;
  readonly processesMax: number;
  readonly cpuMs: number;
}

/** Samples a cgroup during a measurement. */
export class Meter {
  readonly #group: LimitedGroup;
  readonly #before: GroupSample;
  readonly #cancel: Cancel;
  #anonMax = 0;
  #usageMax = 0;
  #processesMax = 0;

  constructor(group: LimitedGroup) {
    this.#group = group;
    this.#before = group.sample();
    this.#cancel = systemClock.every(everyMs, () => this.#look());
  }

  /** The highest use above that at the start. */
  get grownMib(): number {
    return (this.#usageMax - this.#before.usageBytes) / mib;
  }

  stop(): GroupPeaks {
    this.#cancel();
    const last = this.#look();
    return {
      peakMib: last.peakBytes / mib,
      anonPeakMib: this.#anonMax / mib,
      processesMax: this.#processesMax,
      cpuMs: last.cpuMs - this.#before.cpuMs,
    };
  }

  #look(): GroupSample {
    const sample = this.#group.sample();
    this.#anonMax = Math.max(this.#anonMax, sample.anonBytes);
    this.#usageMax = Math.max(this.#usageMax, sample.usageBytes);
    this.#processesMax = Math.max(this.#processesMax, sample.processes);
    return sample;
  }
}
