import type { RuntimeCgroup } from "./load/plugin-memory.ts";
import type { Lane } from "./line/lane.ts";
import type { AdmissionClass, AdmissionRequest } from "./request.ts";
import type { Failure } from "./hold/retry-budget.ts";

/** How the plugins of one network ended, as the shim reported it. */
export interface PluginRun {
  readonly network: string;
  /** The time of all its plugins together, as the shim measured it. */
  readonly tookMs: number;
  /** Their CPU time; undefined when not reported. */
  readonly cpuMs?: number;
  readonly result: "ok" | "failed" | "timeout";
  /** The largest peak memory of one plugin; undefined when nothing ran. */
  readonly peakBytes: number | undefined;
  readonly cgroup: RuntimeCgroup;
  /** The kernel killed a plugin because memory ran out. */
  readonly isOomKilled: boolean;
  /** The undo of a failed ADD, which says nothing about the network or the time of an ADD. */
  readonly isUndo?: boolean;
}

/** How the whole call ended. A cancelled call has no settlement, so it costs no retry budget. */
export type Settlement = "ok" | Failure;

/** How long the running plugin has used no CPU, and its name; empty when unknown. */
export interface Idle {
  readonly idleMs: number;
  readonly plugin: string;
}

/** Hears what happens to a permit. */
export interface PermitOwner {
  nowMs(): number;
  /** Whether the plugin hangs. If so, the permit loses its slot, and `leftCount` follows once the permit knows it. */
  hangs(permit: Permit, idle: Idle): boolean;
  /** Whether the plugin has hung for so long that its network counts as failed. */
  blames(permit: Permit, idle: Idle): boolean;
  /** The plugin goes on hanging. */
  stillHangs(permit: Permit): void;
  leftCount(permit: Permit): void;
  movesAgain(permit: Permit): void;
  /** `hasHung`: the permit had no slot until now. */
  ran(permit: Permit, run: PluginRun, hasHung: boolean): void;
  settled(permit: Permit, settlement: Settlement): void;
  released(permit: Permit): void;
}

/**
 * The object that holds a slot. `using` releases it exactly once on every path. Its holder reports what happens in the
 * call, and reports after the release have no effect.
 */
export class Permit implements Disposable {
  readonly request: AdmissionRequest;
  readonly admissionClass: AdmissionClass;
  readonly lane: Lane;
  readonly sinceMs: number;
  /** Memory that its plugins are expected to need. */
  readonly bytes: number;
  /** Memory reserved for them now, less while one hangs. Only the permit's owner changes it. */
  heldBytes: number;
  #owner: PermitOwner | undefined;
  #running: { readonly network: string; readonly sinceMs: number } | undefined;
  #hungNetwork: string | undefined;
  /** The network has been blamed for the hung plugin. */
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

  /** The network whose plugins run now; undefined between two networks. */
  get running(): { readonly network: string; readonly sinceMs: number } | undefined {
    return this.#running;
  }

  /** The network whose plugin hangs, while the permit has no slot. */
  get hungNetwork(): string | undefined {
    return this.#hungNetwork;
  }

  /** The network whose failure ended the call, if one did. */
  get failedNetwork(): string | undefined {
    const failure = this.#settlement === "ok" ? undefined : this.#settlement;
    return failure?.cause === "network" ? failure.network : undefined;
  }

  /** The plugins of this network start. */
  started(network: string): void {
    if (this.#owner === undefined) return;
    this.#comeBack();
    this.#running = { network, sinceMs: this.#owner.nowMs() };
  }

  /** The shim reports how long the plugin has used no CPU. A hung plugin loses its slot until it moves or ends. */
  progress(idleMs: number, plugin = ""): void {
    if (idleMs === 0) return this.#comeBack();
    const idle = { idleMs, plugin };
    if (this.#hungNetwork === undefined) {
      if (this.#owner?.hangs(this, idle) !== true) return;
      this.#hungNetwork = this.#running?.network;
      this.#owner.leftCount(this);
    }
    if (!this.#isBlamed) this.#isBlamed = this.#owner?.blames(this, idle) === true;
    this.#owner?.stillHangs(this);
  }

  /** The plugins of a network have ended. */
  ran(run: PluginRun): void {
    const hasHung = this.#hungNetwork !== undefined;
    this.#comeBack();
    this.#running = undefined;
    this.#owner?.ran(this, run, hasHung);
  }

  /** How the call ended. Only the first settlement counts. */
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
