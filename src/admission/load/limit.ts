import type { PressureLevel } from "./pressure.ts";

/** How many times its undisturbed time a run may take. Twice keeps all cores busy; more means too many runs at once. */
const tolerance = 2;
/** Shorter undisturbed times are noise of the scheduler. */
const baselineMsMin = 10;
/** Caps the influence of a single very slow run. */
const ratioMax = 10;
/** Weight of the newest run, so that about the last five decide. */
const smoothing = 0.2;
/** Extra slots as a trial, so that a limit that is too low can grow. */
const probeSlots = 1;
/** The limit never falls below half at once, because one bad moment must not undo a minute of learning. */
const gradientMin = 0.5;
/** Under memory or disk pressure the limit shrinks by this factor once a second. */
const pressedFactor = 0.7;
/** If all our runs together get less than this, other processes keep the cores busy. */
const strangersCoresMax = 0.5;
/** After an OOM kill of a plugin, because too much ran at once. */
const killedFactor = 0.5;

/**
 * Consecutive looks at a full node without a finished run, after which the start may double: waiting plugins are no
 * load.
 */
const quietLooksMax = 4;

export interface LimitBounds {
  readonly ceiling: number;
  /** The limit right after a start. */
  readonly start: number;
  /** The limit never falls below this. */
  readonly floor: number;
  /** Share of the ceiling that may run on busy cores, however long the runs take. The limit grows no further there. */
  readonly busyShare: number;
  /** The same while other processes keep the cores busy. */
  readonly strangersShare: number;
  /**
   * Whether the limit also doubles after its start, while its runs neither end nor are slow: ADDs then keep what they
   * learned, but DELs are few between two drains and learn nothing.
   */
  readonly growsWhenQuiet: boolean;
}

/**
 * How many calls may run at once, learned from the plugins' times. The limit grows while runs take about their
 * undisturbed time, and shrinks in proportion when they take longer (a gradient, as in Netflix' and Envoy's limits).
 */
export class AdaptiveLimit {
  readonly #bounds: LimitBounds;
  #limit: number;
  /** Times of runs as multiples of the minimum of their network. */
  #ratio = 1;
  /** The same, but of what a run computed if that is more: how far runs wait for each other. */
  #crowding = 1;
  /** Cores that our runs had together lately; infinity before the first report. */
  #ownCores = Number.POSITIVE_INFINITY;
  #isStarting = true;
  #isFrozen = false;
  #quietLooks = 0;
  #pressure: PressureLevel = "calm";

  constructor(bounds: LimitBounds) {
    const floor = Math.min(bounds.floor, bounds.ceiling);
    this.#bounds = { ...bounds, floor };
    this.#limit = Math.max(floor, Math.min(bounds.start, bounds.ceiling));
  }

  get slots(): number {
    return Math.floor(this.#limit);
  }

  get floor(): number {
    return this.#bounds.floor;
  }

  get ceiling(): number {
    return this.#bounds.ceiling;
  }

  /** The limit doubles with each round until the first sign of overload. */
  get isSlowStart(): boolean {
    return this.#isStarting;
  }

  /** Runs take longer than the limit tolerates, against the minimum of their network. */
  get isSlow(): boolean {
    return this.#ratio > tolerance;
  }

  /** Stops growth while the daemon's own memory is short. */
  freeze(isFrozen: boolean): void {
    this.#isFrozen = isFrozen;
  }

  /** A plugin succeeded. `together` is how many ran at once, including this one; `cpuMs` is its CPU time. */
  sample(tookMs: number, baselineMs: number, together: number, cpuMs?: number): void {
    this.#quietLooks = 0;
    if (cpuMs !== undefined) this.#noteCores((together * cpuMs) / Math.max(tookMs, 1));
    const undisturbedMs = Math.max(baselineMs, baselineMsMin);
    this.#ratio = smoothed(this.#ratio, tookMs / undisturbedMs);
    // What it computed it needs undisturbed, too: on a node with many pods plugins compute longer than they once did.
    this.#crowding = smoothed(this.#crowding, tookMs / Math.max(undisturbedMs, cpuMs ?? 0));
    if (this.#crowding > tolerance) this.#isStarting = false;
    this.#set(this.#isStarting ? this.#limit + 1 : this.#steered(), together);
  }

  /**
   * Called four times a second while calls wait and all slots are taken. Without it, a start with slow plugins would
   * stay at its first limit until one of them ends.
   */
  full(): void {
    this.#quietLooks += 1;
    const mayDouble = this.#isStarting || (this.#bounds.growsWhenQuiet && !this.isSlow);
    if (!mayDouble || this.#quietLooks < quietLooksMax) return;
    this.#quietLooks = 0;
    this.#set(this.#limit * 2, this.#limit);
  }

  /** A plugin runs and uses no CPU, so others keep the cores busy, if any do. */
  idled(): void {
    this.#noteCores(0);
  }

  /** Takes the host's pressure, about once a second. */
  pressed(level: PressureLevel): void {
    this.#pressure = level;
    if (level === "severe") this.#shrink(pressedFactor);
  }

  /** The kernel killed a plugin because memory ran out. */
  killed(): void {
    this.#shrink(killedFactor);
  }

  #steered(): number {
    const gradient = Math.max(gradientMin, Math.min(1, tolerance / this.#crowding));
    const wanted = Math.max(this.#limit * gradient + probeSlots, this.#busyShare());
    return this.#limit + smoothing * (wanted - this.#limit);
  }

  /**
   * On busy cores every run takes long, and in a storm container starts keep the cores busy. Fewer runs of ours would
   * not make them faster: the runtime's processes would take the free cores, and the calls in line would run out of
   * time.
   */
  #busyShare(): number {
    return this.#pressure === "busy" ? this.ceiling * this.#shareOnBusy() + probeSlots : 1;
  }

  /**
   * The whole ceiling when other processes keep the cores busy. If each run waits twenty times as long as it computes,
   * four at a time leave pods in line until their time is over. In one measurement 89 sandboxes were made twice.
   */
  #shareOnBusy(): number {
    return this.#ownCores < strangersCoresMax ? this.#bounds.strangersShare : this.#bounds.busyShare;
  }

  #noteCores(cores: number): void {
    this.#ownCores = Number.isFinite(this.#ownCores) ? this.#ownCores + smoothing * (cores - this.#ownCores) : cores;
  }

  /** Does not grow a limit that is not used, because nothing shows that more would work. */
  #set(next: number, together: number): void {
    if (next > this.#limit && (!this.#mayGrow() || together < this.#limit / 2)) return;
    this.#limit = Math.max(this.floor, Math.min(this.ceiling, next));
  }

  /** Busy cores are normal in a storm. They stop the growth only where more slots could not help. */
  #mayGrow(): boolean {
    if (this.#isFrozen || this.#pressure === "severe" || this.#pressure === "high") return false;
    return this.#pressure === "calm" || this.#limit < this.ceiling * this.#shareOnBusy();
  }

  #shrink(factor: number): void {
    this.#isStarting = false;
    this.#limit = Math.max(this.floor, this.#limit * factor);
  }
}

function smoothed(average: number, newest: number): number {
  return average + smoothing * (Math.min(ratioMax, newest) - average);
}
