import type { AdaptiveLimit } from "./limit.ts";
import { judgeMemory, type MemoryState, type OwnMemory } from "./own-memory.ts";
import { judgePressure, type HostPressure, type PressureLevel } from "./pressure.ts";

/** The load of the daemon's cgroup and the host, read about once a second. */
export interface LoadFacts {
  /** Undefined when the cgroup has no limit or cannot be read. */
  readonly ownMemory: OwnMemory | undefined;
  readonly pressure: HostPressure;
  /** How long some process has waited for a core since the start of the machine; undefined when not reported. */
  readonly coresWaitedMs?: number | undefined;
}

/** Below this share of the time since the last look, a process that starts finds a free core. */
const spareShareMax = 0.2;

/** The load of the node, which slows admission down. */
export class HostLoad {
  readonly #attach: AdaptiveLimit;
  readonly #detach: AdaptiveLimit;
  #memory: MemoryState = "free";
  #pressure: PressureLevel = "calm";
  #lastLook: { readonly atMs: number; readonly waitedMs: number } | undefined;
  #hasSpareCores: boolean | undefined;

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

  /** Whether cores were free since the last look; undefined when not known. */
  get hasSpareCores(): boolean | undefined {
    return this.#hasSpareCores;
  }

  observe({ ownMemory, pressure, coresWaitedMs }: LoadFacts, nowMs: number): void {
    this.#hasSpareCores = this.#judgeCores(coresWaitedMs, nowMs);
    this.#memory = judgeMemory(ownMemory, this.#memory);
    this.#pressure = judgePressure(pressure);
    for (const limit of [this.#attach, this.#detach]) {
      limit.freeze(this.#memory !== "free");
      limit.pressed(this.#pressure);
    }
  }

  #judgeCores(waitedMs: number | undefined, nowMs: number): boolean | undefined {
    const last = this.#lastLook;
    this.#lastLook = waitedMs === undefined ? undefined : { atMs: nowMs, waitedMs };
    if (last === undefined || waitedMs === undefined || nowMs <= last.atMs) return undefined;
    return (waitedMs - last.waitedMs) / (nowMs - last.atMs) < spareShareMax;
  }
}
