import type { Cancel, Clock } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import type { Hand } from "../../hands/hand.ts";
import type { GcAnswer, GcFinding } from "../../wire/node-view.ts";
import type { AttachmentGc } from "./attachment-gc.ts";
import type { OrphanLeases } from "./leases/orphan-leases.ts";
import type { MissingNetworksWatch } from "./missing-networks-watch.ts";
import type { Service } from "../service.ts";

/** `look`: only look. `act`: undo what is dead, free what is spent. `fix`: release addresses without a sandbox as well. */
type RoundMode = "look" | "act" | "fix";

/** A round needs a resident hand; checking for one costs nothing. */
const handPollMs = 1_000;
/** Spreads the rounds of many nodes. */
const jitterShare = 0.2;
/** An interval given in seconds instead of milliseconds must not keep the hand busy. */
const pauseMsMin = 100;

interface SelfGcNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "gcIntervalMs" | "gcGraceMs">;
  readonly logger: Logger;
  readonly resident: () => Hand | undefined;
  readonly attachments: Pick<AttachmentGc, "round">;
  readonly leases: Pick<OrphanLeases, "round">;
  readonly missing: Pick<MissingNetworksWatch, "round">;
}

/**
 * Our own garbage collection, because containerd never calls GC. The resident hand looks after the start, every
 * `gcIntervalMs`, and when a person asks; one round at a time.
 */
export class SelfGc implements Service {
  readonly #needs: SelfGcNeeds;
  readonly #asked: { readonly round: number; readonly mode: RoundMode }[] = [];
  #cancelNext: Cancel = () => undefined;
  #running: Promise<void> | undefined;
  #isStopped = false;
  #lastAsked = 0;
  #finished = 0;
  #finishedWallMs = 0;
  #findings: readonly GcFinding[] = [];
  #notes: readonly string[] = [];
  #failure = "no round has ended yet";

  constructor(needs: SelfGcNeeds) {
    this.#needs = needs;
  }

  start(): this {
    if (this.#needs.config.gcIntervalMs > 0) this.#next(handPollMs);
    return this;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    return this.#running ?? Promise.resolve();
  }

  /** Asks for a round after the running one. Returns its number at once. */
  ask(mode: RoundMode): number {
    // A second request before the round begins shares it.
    const same = this.#asked.find((asked) => asked.mode === mode);
    if (same !== undefined) return same.round;
    this.#lastAsked += 1;
    this.#asked.push({ round: this.#lastAsked, mode });
    this.#work();
    return this.#lastAsked;
  }

  answer(round: number = this.#lastAsked): GcAnswer {
    return {
      round,
      finished: this.#finished,
      finishedWallMs: this.#finishedWallMs,
      intervalMs: this.#needs.config.gcIntervalMs,
      failure: this.#failure,
      findings: this.#findings,
      notes: this.#notes,
    };
  }

  #next(afterMs: number): void {
    this.#cancelNext();
    this.#cancelNext = this.#needs.clock.after(afterMs, () => {
      if (this.#hand() === undefined) this.#next(handPollMs);
      else this.ask("act");
    });
  }

  #work(): void {
    if (this.#running !== undefined || this.#isStopped) return;
    const asked = this.#asked.shift();
    if (asked === undefined) return;
    this.#running = this.#round(asked.mode).finally(() => {
      this.#running = undefined;
      this.#finished = asked.round;
      this.#finishedWallMs = this.#needs.clock.wallMs();
      this.#work();
    });
  }

  /** Never rejects: it keeps the failure for the answer, and the next round tries again. */
  async #round(mode: RoundMode): Promise<void> {
    const hand = this.#hand();
    const { clock, config, logger } = this.#needs;
    let isPending = false;
    this.#failure = "";
    try {
      if (hand === undefined) this.#failure = "no resident hand is connected";
      else isPending = await this.#look(hand, mode);
    } catch (thrown) {
      const reason = toLeveeError(thrown, "Cannot collect garbage").message;
      this.#failure = reason;
      if (hand?.isLost !== true)
        logger.warn("A round of garbage collection failed; the next round tries again", { reason });
    }
    if (this.#isStopped || config.gcIntervalMs === 0) return;
    const wholeMs = isPending ? Math.min(config.gcGraceMs, config.gcIntervalMs) : config.gcIntervalMs;
    this.#next(Math.max(pauseMsMin, wholeMs) * (1 + jitterShare * clock.random()));
  }

  async #look(hand: Hand, mode: RoundMode): Promise<boolean> {
    const attachments = await this.#needs.attachments.round(hand, mode !== "look");
    this.#findings = attachments.findings;
    const leave = { toFree: mode !== "look", toRelease: mode === "fix" };
    const leases = await this.#needs.leases.round(hand, attachments.sight, leave).catch((thrown: unknown) => {
      if (hand.isLost) throw thrown;
      return {
        findings: [],
        notes: [`Addresses of host-local cannot be looked at: ${toLeveeError(thrown, "Looking").message}`],
      };
    });
    const missing = await this.#needs.missing.round(hand, attachments.sight);
    this.#findings = [...attachments.findings, ...leases.findings, ...missing.findings];
    this.#notes = [...leases.notes, ...missing.notes];
    return attachments.isPending || missing.isPending;
  }

  #hand(): Hand | undefined {
    return this.#needs.resident();
  }
}
