import type { LeveeError } from "../base/errors.ts";
import type { Door, Parts } from "./parts.ts";
import { describeBlocker, expiredError, hurriedReason, lateError, lateReason, type RulingKind } from "./rulings.ts";
import { BetterBack } from "./line/better-back.ts";
import type { Line } from "./line/line.ts";
import type { Waiting } from "./line/waiting.ts";

/** How often admission checks the line for deadlines and due probes. No timer runs while the line is empty. */
const sweepMs = 250;

interface SweepNeeds {
  /** Takes a request out of line without a slot. */
  turnAway(waiting: Waiting, what: RulingKind, detail: string, error: LeveeError): void;
  /** Lets the requests go that may go now. */
  pump(): void;
}

/** Looks at both lines while a request waits: requests leave whose time is over, or who gain from coming back. */
export class Sweep {
  readonly #parts: Parts;
  readonly #needs: SweepNeeds;
  readonly #betterBack = new BetterBack();
  readonly #wake = (): void => this.#sweep();
  #isComing = false;

  constructor(parts: Parts, needs: SweepNeeds) {
    this.#parts = parts;
    this.#needs = needs;
  }

  later(): void {
    if (this.#isComing) return;
    this.#isComing = true;
    this.#parts.clock.after(sweepMs, this.#wake);
  }

  #sweep(): void {
    this.#isComing = false;
    const nowMs = this.#parts.clock.monotonicMs();
    const { attach, detach } = this.#parts;
    for (const door of [detach, attach]) this.#expire(door, nowMs);
    this.#sendBack(attach, nowMs);
    for (const { line, limit } of [detach, attach]) if (line.waiting > 0 && line.running >= limit.slots) limit.full();
    this.#needs.pump();
    if (attach.line.waiting + detach.line.waiting > 0) this.later();
    // The pause until the next storm says nothing about the rate.
    else for (const { line } of [detach, attach]) line.look(nowMs);
  }

  /** Refuses the requests whose time ends before the next sweep. */
  #expire({ line }: Door, nowMs: number): void {
    line.look(nowMs);
    const endMs = nowMs + sweepMs;
    for (const waiting of line.arrivals.before(endMs)) this.#expired(line, waiting, nowMs);
    for (const waiting of this.#parts.hurry.before(endMs, line.arrivals))
      this.#expired(line, waiting, nowMs, hurriedReason);
  }

  #expired(line: Line, waiting: Waiting, nowMs: number, reason?: string): void {
    const view = line.view(waiting, nowMs);
    const why = reason ?? describeBlocker(view.blocker);
    this.#needs.turnAway(waiting, "expired", why, expiredError(waiting.request, view, why));
  }

  /** Only ADDs: a DEL that leaves the line is kept for later, and its caller does not come back. */
  #sendBack({ line }: Door, nowMs: number): void {
    for (const waiting of this.#betterBack.find(line, nowMs)) {
      const error = lateError(waiting.request, line.view(waiting, nowMs));
      this.#needs.turnAway(waiting, "refused", lateReason, error);
    }
  }
}
