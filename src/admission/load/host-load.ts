import type { AdaptiveLimit } from "./limit.ts";
import { judgeMemory, type MemoryState, type OwnMemory } from "./own-memory.ts";
import { judgePressure, type HostPressure, type PressureLevel } from "./pressure.ts";

/** The load of the daemon's cgroup and the host, read about once a second. */
export interface LoadFacts {
  /** Undefined when the cgroup has no limit or cannot be read. */
  readonly ownMemory: OwnMemory | undefined;
  readonly pressure: HostPressure;
}

/** The load of the node, which slows admission down. */
export class HostLoad {
  readonly #attach: AdaptiveLimit;
  readonly #detach: AdaptiveLimit;
  #memory: MemoryState = "free";
  #pressure: PressureLevel = "calm";

  constructor(attach: AdaptiveLimit, detach: AdaptiveLimit) {
    this.#attach = attach;
    this.#detach = detach;
  }

  get memory(): MemoryState {
    return this.#memory;
  }

  get pressure(): PressureLevel {
    return this.#pressure;
  }

  /** Plugins get less of the host than they ask for, so they take longer than usual. */
  get isSlow(): boolean {
    return this.#pressure !== "calm" || this.#attach.isSlow;
  }

  observe({ ownMemory, pressure }: LoadFacts): void {
    this.#memory = judgeMemory(ownMemory, this.#memory);
    this.#pressure = judgePressure(pressure);
    for (const limit of [this.#attach, this.#detach]) {
      limit.freeze(this.#memory !== "free");
      limit.pressed(this.#pressure);
    }
  }
}
