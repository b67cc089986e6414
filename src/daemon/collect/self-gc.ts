import type { Cancel } from "../../base/clock.ts";
import { toLeveeError } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import type { GcAnswer, GcFinding } from "../../wire/node-view.ts";
import { AttachmentGc } from "./attachment-gc.ts";
import { tellOfGarbage } from "./garbage-checks.ts";
import type { GcPorts } from "./gc-ports.ts";
import { LeaseGc } from "./leases/lease-gc.ts";
import { MissingNetworks } from "./missing-networks-watch.ts";
import type { MissingNetwork } from "./missing-networks.ts";
import type { Service } from "../service.ts";

/** `look`: only look. `act`: detach what is dead. `fix`: release addresses without a sandbox as well. */
export type RoundMode = "look" | "act" | "fix";

/** Without a resident hand nobody can look; whether one has come costs nothing to see. */
const handPollMs = 1_000;
/** Rounds of many nodes, and of one node's parts, must not fall together for ever. */
const jitterShare = 0.2;
/** An interval in seconds where milliseconds are meant must not keep the hand busy. */
const pauseMsMin = 100;
/** With all their texts they must fit into one frame. */
const findingsMax = 1_000;

/**
 * containerd never calls GC, so the resident hand drives our own: once after the start, then every `gcIntervalMs`, and
 * whenever a person asks. One round at a time.
 */
export class SelfGc implements Service {
  readonly #ports: GcPorts;
  readonly #attachments: AttachmentGc;
  readonly #leases: LeaseGc;
  readonly #missing: MissingNetworks;
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

  constructor(ports: GcPorts) {
    this.#ports = ports;
    this.#attachments = new AttachmentGc(ports);
    this.#leases = new LeaseGc(ports);
    this.#missing = new MissingNetworks(ports);
  }

  start(): this {
    const knowledge = { orphans: () => this.#leases.orphans, missing: () => this.#missing.missing };
    tellOfGarbage(knowledge, this.#ports);
    if (this.#ports.config.gcIntervalMs > 0) this.#next(handPollMs);
    return this;
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelNext();
    return this.#running ?? Promise.resolve();
  }

  /** Asks for a round now, behind one that is under way. Resolves at once to its number. */
  ask(mode: RoundMode): number {
    // Who asks again while his first round has not begun gets that one.
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
      intervalMs: this.#ports.config.gcIntervalMs,
      failure: this.#failure,
      findings: this.#findings.slice(0, findingsMax),
      notes: this.#notes,
    };
  }

  /** Networks that running pods asked for and do not have, as of the last look. */
  missingNetworks(): readonly MissingNetwork[] {
    return this.#missing.missing;
  }

  #next(afterMs: number): void {
    this.#cancelNext();
    this.#cancelNext = this.#ports.clock.after(afterMs, () => {
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
      this.#finishedWallMs = this.#ports.clock.wallMs();
      this.#work();
    });
  }

  /** Never rejects: what went wrong is a note, and the next round tries again. */
  async #round(mode: RoundMode): Promise<void> {
    const hand = this.#hand();
    const { clock, config, logger } = this.#ports;
    let isPending = false;
    this.#failure = "";
    try {
      if (hand === undefined) this.#failure = "no resident hand is connected";
      else isPending = await this.#look(hand, mode);
    } catch (thrown) {
      const reason = toLeveeError(thrown, "Cannot collect garbage").message;
      this.#failure = reason;
      if (hand?.isLost !== true)
        logger.warn("A round of garbage collection stopped short and will be tried again", { reason });
    }
    if (this.#isStopped || config.gcIntervalMs === 0) return;
    const wholeMs = isPending ? Math.min(config.gcGraceMs, config.gcIntervalMs) : config.gcIntervalMs;
    this.#next(Math.max(pauseMsMin, wholeMs) * (1 + jitterShare * clock.random()));
  }

  async #look(hand: Hand, mode: RoundMode): Promise<boolean> {
    const attachments = await this.#attachments.round(hand, mode !== "look");
    this.#findings = attachments.findings;
    const leases = await this.#leases.round(hand, attachments.sight, mode === "fix").catch((thrown: unknown) => {
      if (hand.isLost) throw thrown;
      return {
        findings: [],
        notes: [`Addresses of host-local cannot be looked at: ${toLeveeError(thrown, "Looking").message}`],
      };
    });
    const missing = await this.#missing.round(hand, attachments.sight);
    this.#findings = [...attachments.findings, ...leases.findings, ...missing.findings];
    this.#notes = [...leases.notes, ...missing.notes, ...this.#clipped()];
    return attachments.isPending || missing.isPending;
  }

  #clipped(): readonly string[] {
    const more = this.#findings.length - findingsMax;
    return more > 0 ? [`${more} more findings are not shown`] : [];
  }

  #hand(): Hand | undefined {
    return this.#ports.recovery.residents.map(({ hand }) => hand).find((hand) => !hand.isLost);
  }
}
