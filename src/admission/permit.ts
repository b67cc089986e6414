import type { RuntimeCgroup } from "./load/plugin-memory.ts";
import type { Lane } from "./line/lane.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";
import type { Failure } from "./hold/retry-budget.ts";

/** How the plugins of one network ended, from the shim's reports. */
export interface PluginRun {
  readonly network: string;
  /** Of all its plugins together, as the shim measured it. */
  readonly tookMs: number;
  /** Of that, what they had of a core; undefined when nobody told. */
  readonly cpuMs?: number;
  readonly result: "ok" | "failed" | "timeout";
  /** The largest peak memory of one; undefined when nothing ran. */
  readonly peakBytes: number | undefined;
  readonly cgroup: RuntimeCgroup;
  /** One was killed by the kernel for want of memory. */
  readonly isOomKilled: boolean;
  /** It took something away for an ADD that failed: no proof that the network works, nor of what an ADD takes. */
  readonly isUndo?: boolean;
}

/** How the whole call ended. A call that was cancelled is not settled: nobody pays for it. */
export type Settlement = "ok" | Failure;

/** How long the plugin that runs has used no CPU, and which it is; empty when nobody said. */
export interface Idle {
  readonly idleMs: number;
  readonly plugin: string;
}

/** Who keeps the books of permits. */
export interface PermitOwner {
  nowMs(): number;
  /** Judges a delegate and takes it out of the count if it hangs; `leftCount` is told once the permit knows it. */
  hangs(permit: Permit, idle: Idle): boolean;
  /** Whether it has hung for so long by now that its network is held responsible. */
  blames(permit: Permit, idle: Idle): boolean;
  leftCount(permit: Permit): void;
  movesAgain(permit: Permit): void;
  /** `hasHung`: it was out of the count until now. */
  ran(permit: Permit, run: PluginRun, hasHung: boolean): void;
  settled(permit: Permit, settlement: Settlement): void;
  released(permit: Permit): void;
}

/**
 * The right to run, given back by `using` on every path and exactly once. Its holder tells what happens meanwhile;
 * whatever is told after the end is ignored.
 */
export class Permit implements Disposable {
  readonly request: AdmissionRequest;
  readonly admissionClass: AdmissionClass;
  readonly lane: Lane;
  readonly sinceMs: number;
  /** What its delegates are expected to need. */
  readonly bytes: number;
  /** What is kept free for them now: less than that while one hangs. Only the owner of the books changes it. */
  heldBytes: number;
  #owner: PermitOwner | undefined;
  #running: { readonly network: string; readonly sinceMs: number } | undefined;
  #hungNetwork: string | undefined;
  /** For the delegate that hangs its network was held responsible. */
  #isBlamed = false;
  #settlement: Settlement | undefined;

  constructor(owner: PermitOwner | undefined, facts: PermitFacts) {
    this.#owner = owner;
    this.request = facts.request;
    this.admissionClass = facts.admissionClass;
    this.lane = facts.lane;
    this.sinceMs = facts.sinceMs;
    this.bytes = facts.bytes;
    this.heldBytes = facts.bytes;
  }

  /** The delegate that runs now; undefined between two. */
  get running(): { readonly network: string; readonly sinceMs: number } | undefined {
    return this.#running;
  }

  /** The network whose delegate hangs, while it is out of the count. */
  get hungNetwork(): string | undefined {
    return this.#hungNetwork;
  }

  /** The network whose failure ended the call; undefined when none did. */
  get failedNetwork(): string | undefined {
    const failure = this.#settlement === "ok" ? undefined : this.#settlement;
    return failure?.cause === "network" ? failure.network : undefined;
  }

  /** The plugins of this network are being run. */
  started(network: string): void {
    if (this.#owner === undefined) return;
    this.#comeBack();
    this.#running = { network, sinceMs: this.#owner.nowMs() };
  }

  /** The shim says how long the delegate has used no CPU. One that hangs gives up its slot until it moves or ends. */
  progress(idleMs: number, plugin = ""): void {
    if (idleMs === 0) return this.#comeBack();
    const idle = { idleMs, plugin };
    if (this.#hungNetwork === undefined) {
      if (this.#owner?.hangs(this, idle) !== true) return;
      this.#hungNetwork = this.#running?.network;
      this.#owner.leftCount(this);
    }
    if (!this.#isBlamed) this.#isBlamed = this.#owner?.blames(this, idle) === true;
  }

  /** They have ended. */
  ran(run: PluginRun): void {
    const hasHung = this.#hungNetwork !== undefined;
    this.#comeBack();
    this.#running = undefined;
    this.#owner?.ran(this, run, hasHung);
  }

  /** How the call ended; the first word counts. */
  settle(settlement: Settlement): void {
    if (this.#settlement !== undefined) return;
    this.#settlement = settlement;
    this.#owner?.settled(this, settlement);
  }

  [Symbol.dispose](): void {
    this.#comeBack();
    const owner = this.#owner;
    this.#owner = undefined;
    owner?.released(this);
  }

  #comeBack(): void {
    if (this.#hungNetwork === undefined) return;
    this.#owner?.movesAgain(this);
    this.#hungNetwork = undefined;
    this.#isBlamed = false;
  }
}

interface PermitFacts {
  readonly request: AdmissionRequest;
  readonly admissionClass: AdmissionClass;
  readonly lane: Lane;
  readonly sinceMs: number;
  readonly bytes: number;
}
