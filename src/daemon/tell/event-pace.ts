import type { Clock } from "../../base/clock.ts";
import { TokenBucket } from "../../kube/outbox/token-bucket.ts";

/**
 * A storm of 250 pods with two interfaces each is told within three minutes. An event takes 2 ms of CPU: on a tenth of a
 * core, twenty events a second took as much time as the attachments themselves.
 */
const usual = { burst: 20, refillMs: 200 };
/** The API server takes 5 ms of CPU for an event, which the pods of a storm need on a small node that runs the server too. */
const inStorm = { burst: 20, refillMs: 1_000 };
/** While events come at shorter intervals than this, pods are starting. */
const quietMs = 1_000;
/** A storm on a full node. What goes on for longer is told at the usual pace, so that no event grows old. */
const stormMsMax = 60_000;

/** How fast a node tells events: slower while more of them come, because then pods are starting. */
export class EventPace {
  readonly #clock: Clock;
  readonly #usual: TokenBucket;
  readonly #inStorm: TokenBucket;
  #sinceMs = -Infinity;
  #lastMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#usual = new TokenBucket(clock, usual);
    this.#inStorm = new TokenBucket(clock, inStorm);
  }

  /** An event has come. */
  came(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMs > quietMs) this.#sinceMs = nowMs;
    this.#lastMs = nowMs;
  }

  waitMs(): number {
    const waitMs = this.#usual.waitMs();
    // The storm may end before the slow pace allows the next event.
    return this.#isStorm() ? Math.max(waitMs, Math.min(this.#inStorm.waitMs(), quietMs)) : waitMs;
  }

  take(): boolean {
    this.#inStorm.take();
    return this.#usual.take();
  }

  #isStorm(): boolean {
    const nowMs = this.#clock.monotonicMs();
    return nowMs - this.#lastMs < quietMs && nowMs - this.#sinceMs < stormMsMax;
  }
}
