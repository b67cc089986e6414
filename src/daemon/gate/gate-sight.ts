import type { Clock } from "../../base/clock.ts";
import type { GateReason } from "../../wire/gate-codes.ts";
import type { RebootGate } from "../../wire/reboot-gate.ts";
import { gateExpiryMaxMs, standingVerdict } from "../../wire/standing-verdict.ts";

/** What this node knows about its gate now. */
export interface SeenVerdict {
  readonly isAllowed: boolean;
  readonly reason: string;
  /** How long an Allow still counts; 0 for Deny. */
  readonly leftMs: number;
}

/**
 * Judges what was read last. A verdict counts until it expires by this node's clock, and never for longer than it was
 * given from when this daemon first saw it: a clock that runs behind would otherwise keep it open.
 */
export class GateSight {
  readonly #clock: Clock;
  readonly #node: string;
  #gate: RebootGate | undefined;
  #firstSeenMs = 0;
  /** Why the last attempt to read failed. */
  #problem: string | undefined;

  constructor(clock: Clock, node: string) {
    this.#clock = clock;
    this.#node = node;
  }

  saw(gate: RebootGate | undefined): void {
    if (gate?.observedAtMs !== this.#gate?.observedAtMs) this.#firstSeenMs = this.#clock.monotonicMs();
    this.#gate = gate;
    this.#problem = undefined;
  }

  /** A server that is away takes nothing back. One that answers and refuses does. */
  failed(problem: string, isRefused: boolean): void {
    this.#problem = problem;
    if (isRefused) this.#gate = undefined;
  }

  now(): SeenVerdict {
    const gate = this.#gate;
    const nowMs = this.#clock.wallMs();
    const { isAllowed, reasons } = standingVerdict(this.#node, gate, nowMs);
    const leftMs = gate === undefined || !isAllowed ? 0 : this.#leftMs(gate, nowMs);
    if (leftMs > 0) return { isAllowed: true, reason: allowText(gate), leftMs };
    if (this.#problem !== undefined) return { isAllowed: false, reason: `GateUnreadable: ${this.#problem}`, leftMs: 0 };
    const own = "GateStale: this node has seen the verdict for as long as it may count";
    return { isAllowed: false, reason: isAllowed ? own : denyText(reasons), leftMs: 0 };
  }

  #leftMs({ observedAtMs, expiresAtMs }: RebootGate, nowMs: number): number {
    const givenMs = Math.min(expiresAtMs - observedAtMs, gateExpiryMaxMs);
    const byWall = observedAtMs + givenMs - nowMs;
    const byOwnCount = this.#firstSeenMs + givenMs - this.#clock.monotonicMs();
    return Math.min(byWall, byOwnCount);
  }
}

function allowText(gate: RebootGate | undefined): string {
  const by = gate?.override?.by;
  return by === undefined ? "the guard found no reason against a reboot" : `${by} allows it`;
}

function denyText(reasons: readonly GateReason[]): string {
  const [first, ...others] = reasons;
  if (first === undefined) return "the guard does not allow it, and gives no reason";
  return `${first.code}: ${first.message}${others.length === 0 ? "" : `, and ${others.length} more`}`;
}
