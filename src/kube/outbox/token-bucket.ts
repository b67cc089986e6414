import type { Clock } from "../../base/clock.ts";

interface BucketSize {
  /** How many tokens may be taken at once. */
  readonly burst: number;
  /** One more token after this time. */
  readonly refillMs: number;
}

/** Lets a burst through, and after that a steady rate. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #size: BucketSize;
  #tokens: number;
  #countedMs: number;

  constructor(clock: Clock, size: BucketSize) {
    this.#clock = clock;
    this.#size = size;
    this.#tokens = size.burst;
    this.#countedMs = clock.monotonicMs();
  }

  take(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** How long until the next token; 0 when one may be taken now. */
  waitMs(): number {
    this.#refill();
    return this.#tokens >= 1 ? 0 : (1 - this.#tokens) * this.#size.refillMs;
  }

  /** Takes a token in any case, and returns how long its taker has to wait for it. */
  reserve(): number {
    const waitMs = this.waitMs();
    this.#tokens -= 1;
    return waitMs;
  }

  /** Gives a token back that its taker did not use. */
  giveBack(): void {
    this.#tokens += 1;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#size.burst, this.#tokens + (nowMs - this.#countedMs) / this.#size.refillMs);
    this.#countedMs = nowMs;
  }
}
