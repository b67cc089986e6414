import type { AdmissionRequest } from "../request.ts";

/** At least this share of the time that a short call has goes to its plugins, and not to the line. */
const pluginsShare = 1 / 2;

interface PatienceLimits {
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

  constructor(limits: PatienceLimits) {
    this.#limits = limits;
  }

  /** A retry inside a call ends its wait by itself, while there is time for an attempt. */
  waitMs({ isRetry, leftMs = Number.POSITIVE_INFINITY }: AdmissionRequest): number {
    if (isRetry === true) return leftMs;
    const { queueMs, pluginsMs, undoMs } = this.#limits;
    const freeMs = Math.max(0, leftMs - undoMs);
    return Math.min(queueMs, Math.max(freeMs - pluginsMs, freeMs * (1 - pluginsShare)));
  }
}
