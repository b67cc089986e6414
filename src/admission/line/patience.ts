import type { AdmissionRequest } from "../request.ts";
import type { Waiting } from "./waiting.ts";

/**
 * How long a call may stay in line once the runtime waits for all its calls to end: containerd holds a lock over every
 * call and takes it for itself when a conf changes, and until then no other call begins. The kubelet takes the runtime
 * for dead after 30 s and looks every 5 s, so 10 s are left for the plugins.
 */
const hurriedMs = 15_000;
/** A call that looks up its pod when the hurry begins joins the line within this time. */
const lookingUpMs = 5_000;
/** At least this share of the time that a short call has goes to its plugins, and not to the line. */
const pluginsShare = 1 / 2;

export interface PatienceLimits {
  /** The longest wait in line. */
  readonly queueMs: number;
  /** What the plugins of a call need after the line. */
  readonly pluginsMs: number;
  /** What the undo of a call needs after the plugins. */
  readonly undoMs: number;
}

/** How long a call may wait in line: as long as its caller does, less the time that its work needs. */
export class Patience {
  readonly #limits: PatienceLimits;
  #hurrySinceMs = Number.NEGATIVE_INFINITY;

  constructor(limits: PatienceLimits) {
    this.#limits = limits;
  }

  /** When a call that joins now must leave the line. */
  untilMs(nowMs: number, request: AdmissionRequest): number {
    const untilMs = nowMs + this.#waitMs(request);
    const beganBeforeHurry = nowMs < this.#hurrySinceMs + lookingUpMs;
    return beganBeforeHurry ? Math.min(untilMs, this.hurriedUntilMs) : untilMs;
  }

  /** A retry inside a call ends its wait by itself, while there is time for an attempt. */
  #waitMs({ isRetry, leftMs = Number.POSITIVE_INFINITY }: AdmissionRequest): number {
    if (isRetry === true) return leftMs;
    const { queueMs, pluginsMs, undoMs } = this.#limits;
    const freeMs = Math.max(0, leftMs - undoMs);
    return Math.min(queueMs, Math.max(freeMs - pluginsMs, freeMs * (1 - pluginsShare)));
  }

  /** The runtime waits from now on until every call that it has begun has ended. */
  hurry(nowMs: number): void {
    // A second change while the runtime still waits for the first does not give the calls more time.
    if (nowMs >= this.hurriedUntilMs) this.#hurrySinceMs = nowMs;
  }

  /** Whether the hurry has shortened a call's wait. */
  isHurried({ untilMs }: Waiting): boolean {
    return untilMs === this.hurriedUntilMs;
  }

  get hurriedUntilMs(): number {
    return this.#hurrySinceMs + hurriedMs;
  }
}
