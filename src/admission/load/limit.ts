import type { PressureLevel } from "./pressure.ts";

/** A run may take this many times its undisturbed time before there are too many: twice keeps all cores busy. */
const tolerance = 2;
/** Undisturbed times below this are noise of the scheduler, not a measure. */
const baselineMsMin = 10;
/** One run that took longer than this many times its usual time says no more than that it took long. */
const ratioMax = 10;
/** Weight of the newest run: about the last five decide. */
const smoothing = 0.2;
/** What is tried beyond the number that fits, so that a limit that is too low finds out. */
const probeSlots = 1;
/** The limit goes down to no less than half at once: one bad moment must not undo a minute of learning. */
const gradientMin = 0.5;
/** Under memory or disk pressure the limit shrinks by this with each look, once a second. */
const pressedFactor = 0.7;
/** Of the ceiling: as many go on busy cores whatever they take, and no more than these are added. */
const busyShare = 1 / 2;
/** Cores that our runs get together: with less than this it is not they who keep the cores busy. */
const strangersCoresMax = 0.5;
/** After an OOM kill of a delegate: what ran together was too much by any measure. */
const killedFactor = 0.5;

/** Looks in a row at a full node on which nothing has ended: plugins that wait for something are no load. */
const quietLooksMax = 4;

/**
 * How many ADDs may run at once, found out from what delegates take: the limit grows while runs take about as long as
 * they do undisturbed, and shrinks in proportion as they take longer (a gradient, as Netflix and Envoy use it).
 */
export class AdaptiveLimit {
  readonly #ceiling: number;
  #limit: number;
  #ratio = 1;
  /** How many cores our runs have had together lately; as long as nobody has told, all that are busy. */
  #ownCores = Number.POSITIVE_INFINITY;
  #isStarting = true;
  #isFrozen = false;
  #quietLooks = 0;
  #pressure: PressureLevel = "calm";

  /** `start`: where it begins. */
  constructor(ceiling: number, start: number) {
    this.#ceiling = ceiling;
    this.#limit = Math.min(start, ceiling);
  }

  get slots(): number {
    return Math.max(1, Math.min(this.#ceiling, Math.floor(this.#limit)));
  }

  get ceiling(): number {
    return this.#ceiling;
  }

  /** Doubling with each round until the first sign of too much. */
  get isSlowStart(): boolean {
    return this.#isStarting;
  }

  /** No growth while the daemon's own memory is short. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
  }

  /** A delegate went through. `together` is how many ran at once, itself included; `cpuMs` what it had of a core. */
  sample(tookMs: number, baselineMs: number, together: number, cpuMs?: number): void {
    this.#quietLooks = 0;
    if (cpuMs !== undefined) this.#noteCores((together * cpuMs) / Math.max(tookMs, 1));
    const ratio = Math.min(ratioMax, tookMs / Math.max(baselineMs, baselineMsMin));
    this.#ratio += smoothing * (ratio - this.#ratio);
    if (this.#ratio > tolerance) this.#isStarting = false;
    this.#set(this.#isStarting ? this.#limit + 1 : this.#steered(), together);
  }

  /**
   * Four times a second while somebody waits and all slots are taken: a start with plugins that take seconds would
   * otherwise stay at its first limit until one of them has ended.
   */
  full(): void {
    this.#quietLooks += 1;
    if (!this.#isStarting || this.#quietLooks < quietLooksMax) return;
    this.#quietLooks = 0;
    this.#set(this.#limit * 2, this.#limit);
  }

  /** A look at the host: called about once a second. */
  pressed(level: PressureLevel): void {
    this.#pressure = level;
    if (level === "severe") this.#shrink(pressedFactor);
  }

  /** The kernel killed a delegate for want of memory. */
  killed(): void {
    this.#shrink(killedFactor);
  }

  #steered(): number {
    const gradient = Math.max(gradientMin, Math.min(1, tolerance / this.#ratio));
    const wanted = Math.max(this.#limit * gradient + probeSlots, this.#busyShare());
    return this.#limit + smoothing * (wanted - this.#limit);
  }

  /**
   * While the cores are busy every run takes long, and in a storm it is container starts that keep them so. Fewer of
   * ours would not make them faster: each has its share of the cores, and the runtime's processes would take what we
   * leave, while those in line run out of time.
   */
  #busyShare(): number {
    return this.#pressure === "busy" ? this.#ceiling * this.#shareOnBusy() + probeSlots : 1;
  }

  /**
   * All of it when the cores are busy with others' work. On a node where each run waits twenty times as long as it
   * computes, four at a time leave pods in line until their time is over: 89 sandboxes were made twice for it.
   */
  #shareOnBusy(): number {
    return this.#ownCores < strangersCoresMax ? 1 : busyShare;
  }

  #noteCores(cores: number): void {
    this.#ownCores = Number.isFinite(this.#ownCores) ? this.#ownCores + smoothing * (cores - this.#ownCores) : cores;
  }

  /** A limit that is not used is no proof that more would go well. */
  #set(next: number, together: number): void {
    if (next > this.#limit && (!this.#mayGrow() || together < this.#limit / 2)) return;
    this.#limit = Math.max(1, Math.min(this.#ceiling, next));
  }

  /** Busy cores are what a storm looks like; they stop the growth only where more could not help. */
  #mayGrow(): boolean {
    if (this.#isFrozen || this.#pressure === "severe" || this.#pressure === "high") return false;
    return this.#pressure === "calm" || this.#limit < this.#ceiling * this.#shareOnBusy();
  }

  #shrink(factor: number): void {
    this.#isStarting = false;
    this.#limit = Math.max(1, this.#limit * factor);
  }
}
