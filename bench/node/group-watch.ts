import { readGroup, type GroupReading, type ContainerGroup } from "./container-group.ts";

const mib = 1024 * 1024;

/** The use of a container while it was watched. */
export interface GroupUse {
  readonly peakUsageMib: number;
  readonly peakAnonMib: number;
  readonly processesMax: number;
  readonly oomKills: number;
  readonly cpuMs: number;
  /** Of it, in the kernel. */
  readonly kernelMs: number;
  readonly throttledPeriods: number;
  readonly throttledMs: number;
}

/** Samples a container's cgroups, because the kernel keeps no peak of anonymous memory. */
export class GroupWatch {
  readonly #group: ContainerGroup;
  readonly #first: GroupReading;
  #last: GroupReading;
  #usageBytesMax = 0;
  #anonBytesMax = 0;
  #processesMax = 0;

  constructor(group: ContainerGroup) {
    this.#group = group;
    this.#first = readGroup(group);
    this.#last = this.#first;
  }

  look(): void {
    const now = this.#read();
    this.#usageBytesMax = Math.max(this.#usageBytesMax, now.usageBytes);
    this.#anonBytesMax = Math.max(this.#anonBytesMax, now.anonBytes);
    this.#processesMax = Math.max(this.#processesMax, now.processes);
  }

  use(): GroupUse {
    this.look();
    return {
      peakUsageMib: this.#usageBytesMax / mib,
      peakAnonMib: this.#anonBytesMax / mib,
      processesMax: this.#processesMax,
      oomKills: this.#last.oomKills - this.#first.oomKills,
      cpuMs: this.#last.cpuMs - this.#first.cpuMs,
      kernelMs: this.#last.kernelMs - this.#first.kernelMs,
      throttledPeriods: this.#last.throttledPeriods - this.#first.throttledPeriods,
      throttledMs: this.#last.throttledMs - this.#first.throttledMs,
    };
  }

  /** A restarted container has new cgroups. The last sample of the old ones stays. */
  #read(): GroupReading {
    try {
      this.#last = readGroup(this.#group);
    } catch {
      return this.#last;
    }
    return this.#last;
  }
}
