import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { backOffMs } from "../back-off.ts";
import type { Fate, Letter } from "./letter.ts";
import type { DeliveryVerdict } from "./delivery-verdict.ts";
import type { TokenBucket } from "./token-bucket.ts";

export interface OutboxOptions {
  /** Its content, for messages: `network-status`, `event`. */
  readonly what: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly judge: (thrown: unknown) => DeliveryVerdict;
  readonly lettersMax: number;
  /** How many letters are sent at the same time. */
  readonly atOnceMax: number;
  readonly pace?: Pick<TokenBucket, "waitMs" | "take">;
  /** How long a new letter waits. Each one costs CPU time, and work that a call waits for goes first. */
  readonly lingerMs?: number;
  readonly onFate?: (fate: Fate) => void;
}

export interface OutboxHealth {
  readonly waiting: number;
  readonly sending: number;
  readonly dropped: number;
  /** Since when nothing can be delivered, on the wall clock; undefined while deliveries work. */
  readonly awaySinceMs: number | undefined;
  /** The server's reason for a refusal, until it takes a letter again. */
  readonly refusal: string | undefined;
}

/** How soon to ask a server again that is away: a person who looks should not wait much longer. */
const awayPause = { firstMs: 500, longestMs: 10_000 };
/** A letter that is refused for its own reason is not urgent, and there may be many such letters. */
const letterPause = { firstMs: 2_000, longestMs: 300_000 };

/** After this many attempts without an answer, which take over a minute, the oldest letter lets the next one go first. */
const unansweredMax = 10;
const asideMs = 100;

const ignoreFate = (): void => undefined;
const untried = { attempts: 0, unanswered: 0, notBeforeMs: Number.POSITIVE_INFINITY, resolve: ignoreFate };

/**
 * Delivers letters to the API server in the background, oldest first: through outages, within a bound, one at a time per
 * key. When it is full it drops the oldest, because the newest says more.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  /** In the order of their first arrival. A newer letter takes the place of the one it replaces. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #sending = new Set<string>();
  #dropped = 0;
  #refusal: string | undefined;
  #awaySinceMs: number | undefined;
  #failures = 0;
  #pausedUntilMs = 0;
  #stopTimer: Cancel = () => undefined;
  #wakesMs = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Resolves when the letter's fate is known; never rejects. */
  put(letter: Letter): Promise<Fate> {
    return new Promise((resolve) => this.#place(letter, resolve));
  }

  /** Like `put`, without a promise: promises for a thousand letters take memory. */
  post(letter: Letter): void {
    this.#place(letter, ignoreFate);
  }

  #place(letter: Letter, resolve: (fate: Fate) => void): void {
    if (this.#isClosed) return resolve("dropped");
    const earlier = this.#waiting.get(letter.key);
    if (earlier === undefined) this.#makeRoom();
    const { clock, lingerMs = 0 } = this.#options;
    const last = earlier ?? untried;
    const { attempts, unanswered } = last;
    // A new letter is tried at once, even if the one it replaces had to wait for minutes.
    const notBeforeMs = Math.min(last.notBeforeMs, clock.monotonicMs() + lingerMs);
    this.#waiting.set(letter.key, { letter, attempts, unanswered, notBeforeMs, isWrong: false, resolve });
    last.resolve("replaced");
    // In a storm a thousand letters linger, and looking through them for each new one would take longer than sending.
    if (this.#wakesMs > notBeforeMs) this.#pump();
  }

  /** Drops a letter that is no longer wanted. One that is being sent still arrives. */
  drop(key: string): void {
    this.#waiting.get(key)?.resolve("ended");
    this.#waiting.delete(key);
  }

  health(): OutboxHealth {
    return {
      waiting: this.#waiting.size,
      sending: this.#sending.size,
      dropped: this.#dropped,
      awaySinceMs: this.#awaySinceMs,
      refusal: this.#refusal,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
    for (const { resolve } of this.#waiting.values()) resolve("dropped");
    this.#waiting.clear();
  }

  #makeRoom(): void {
    if (this.#waiting.size < this.#options.lettersMax) return;
    const oldest = this.#waiting.keys().find((key) => !this.#sending.has(key)) ?? "";
    this.#dropped += 1;
    this.#end(oldest, this.#waiting.get(oldest), "dropped");
  }

  #pump(): void {
    this.#stopTimer();
    this.#wakesMs = Number.POSITIVE_INFINITY;
    if (this.#isClosed) return;
    const nowMs = this.#options.clock.monotonicMs();
    // While the server is away, one letter is enough to find out whether it is back.
    const atOnceMax = this.#failures > 0 ? 1 : this.#options.atOnceMax;
    let waitMs = this.#pausedUntilMs - nowMs;
    while (waitMs <= 0 && this.#sending.size < atOnceMax) {
      waitMs = this.#startNext(nowMs);
    }
    // Each delivery calls this again when it ends.
    if (waitMs <= 0 || !Number.isFinite(waitMs)) return;
    this.#wakesMs = nowMs + waitMs;
    this.#stopTimer = this.#options.clock.after(waitMs, () => this.#pump());
  }

  /** Sends the oldest letter that may go now. Returns 0 when there may be more, else the time until one may go. */
  #startNext(nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [key, waiting] of this.#waiting) {
      if (this.#sending.has(key)) continue;
      nextMs = Math.min(nextMs, waiting.notBeforeMs);
      if (waiting.notBeforeMs > nowMs) continue;
      const paceMs = this.#options.pace?.waitMs() ?? 0;
      if (paceMs > 0) return paceMs;
      this.#options.pace?.take();
      void this.#deliver(key, waiting);
      return 0;
    }
    return nextMs - nowMs;
  }

  async #deliver(key: string, waiting: Waiting): Promise<void> {
    this.#sending.add(key);
    try {
      await waiting.letter.send();
      this.#end(key, waiting, "delivered");
      this.#wasTaken();
    } catch (thrown) {
      this.#wasNotTaken(key, waiting, thrown);
    } finally {
      this.#sending.delete(key);
      this.#pump();
    }
  }

  #wasTaken(): void {
    this.#isBack();
    if (this.#refusal === undefined) return;
    // Other letters may still be refused, for the same reason or for another.
    const isOver = ![...this.#waiting.values()].some(({ isWrong }) => isWrong);
    if (isOver) this.#refusal = undefined;
  }

  #wasNotTaken(key: string, waiting: Waiting, thrown: unknown): void {
    const verdict = this.#options.judge(thrown);
    waiting.isWrong = verdict.isWrong === true;
    if (waiting.isWrong) this.#logRefusal(thrown);
    if (verdict.what === "away" || verdict.what === "later") waiting.letter.onPostponed?.(thrown);
    if (verdict.what === "away") {
      this.#pause(verdict, thrown);
      waiting.unanswered += 1;
      // Perhaps only this letter gets no answer, from a webhook for example. The others must not wait for it for ever.
      if (waiting.unanswered >= unansweredMax) waiting.notBeforeMs = this.#pausedUntilMs + asideMs;
      return;
    }
    this.#isBack();
    if (verdict.what === "later") {
      waiting.attempts += 1;
      const pauseMs = backOffMs(this.#options.clock, waiting.attempts, { ...letterPause, afterMs: verdict.afterMs });
      waiting.notBeforeMs = this.#options.clock.monotonicMs() + pauseMs;
      return;
    }
    this.#end(key, waiting, verdict.what);
  }

  #pause(verdict: DeliveryVerdict, thrown: unknown): void {
    const { clock, logger, what } = this.#options;
    this.#failures += 1;
    if (this.#awaySinceMs === undefined) {
      this.#awaySinceMs = clock.wallMs();
      logger.warn("Nothing can be delivered to the API server; deliveries are kept and tried again", {
        what,
        reason: toLeveeError(thrown, "Delivery").message,
      });
    }
    this.#pausedUntilMs =
      clock.monotonicMs() + backOffMs(clock, this.#failures, { ...awayPause, afterMs: verdict.afterMs });
  }

  /** The server has answered, whatever the answer was. */
  #isBack(): void {
    const { logger, what } = this.#options;
    if (this.#awaySinceMs !== undefined)
      logger.info("The API server takes deliveries again", { what, waiting: this.#waiting.size });
    this.#awaySinceMs = undefined;
    this.#failures = 0;
  }

  /** Logs only the first refusal: the reason may be the same for every pod. */
  #logRefusal(thrown: unknown): void {
    const { logger, what } = this.#options;
    const reason = toLeveeError(thrown, "Delivery").message;
    const isNew = this.#refusal === undefined;
    this.#refusal = reason;
    if (isNew) logger.error("The API server refuses a delivery", { what, reason });
  }

  #end(key: string, waiting: Waiting | undefined, fate: Fate): void {
    if (waiting === undefined) return;
    if (this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    waiting.resolve(fate);
    this.#options.onFate?.(fate);
  }
}

interface Waiting {
  readonly letter: Letter;
  readonly resolve: (fate: Fate) => void;
  attempts: number;
  /** How often it was sent without an answer. */
  unanswered: number;
  notBeforeMs: number;
  /** The server's last answer means that a person must change something. */
  isWrong: boolean;
}
