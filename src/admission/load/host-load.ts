import type { AdaptiveLimit } from "./limit.ts";
import { judgeMemory, type MemoryState, type OwnMemory } from "./own-memory.ts";
import { judgePressure, type HostPressure, type PressureLevel } from "./pressure.ts";

/** What the daemon read about its cgroup and the host, about once a second. */
export interface LoadFacts {
  /** Undefined when the cgroup has no limit or cannot be read. */
  readonly ownMemory: OwnMemory | undefined;
  readonly pressure: HostPressure;
}

/** The state of the node as far as it slows admission down. */
export class HostLoad {
  readonly #limit: AdaptiveLimit;
  #memory: MemoryState = "free";
  #pressure: PressureLevel = "calm";

  constructor(limit: AdaptiveLimit) {
    this.#limit = limit;
  }

  get memory(): MemoryState {
    return this.#memory;
  }

  get pressure(): PressureLevel {
    return this.#pressure;
  }

  observe({ ownMemory, pressure }: LoadFacts): void {
    this.#memory = judgeMemory(ownMemory, this.#memory);
    this.#pressure = judgePressure(pressure);
    this.#limit.freeze(this.#memory !== "free");
    this.#limit.pressed(this.#pressure);
  }
}
