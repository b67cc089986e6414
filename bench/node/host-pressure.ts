import { readFileSync } from "node:fs";
import { parseStall } from "../../src/admission/load/pressure.ts";

/** The highest sample, in percent of ten seconds. The daemon uses the same figure. */
export interface PressureSeen {
  readonly cpuSome: number;
  readonly memoryFull: number;
  readonly ioFull: number;
}

/** The kernel's figures for the host's load while it was watched; zero on a kernel without them. */
export class HostPressureWatch {
  #seen: PressureSeen = { cpuSome: 0, memoryFull: 0, ioFull: 0 };

  look(): void {
    this.#seen = {
      cpuSome: Math.max(this.#seen.cpuSome, stallOf("cpu").some),
      memoryFull: Math.max(this.#seen.memoryFull, stallOf("memory").full),
      ioFull: Math.max(this.#seen.ioFull, stallOf("io").full),
    };
  }

  get seen(): PressureSeen {
    return this.#seen;
  }
}

function stallOf(what: string): { readonly some: number; readonly full: number } {
  try {
    return parseStall(readFileSync(`/proc/pressure/${what}`, "utf8")) ?? { some: 0, full: 0 };
  } catch {
    return { some: 0, full: 0 };
  }
}
