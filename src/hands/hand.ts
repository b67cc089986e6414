import type { NetnsPath } from "../base/brand.ts";
import type { Clock } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import type { NetnsIdentity, ProcessIdentity } from "../base/identity.ts";
import { encodeFrame, numberField, required, type Frame } from "../wire/frame.ts";
import {
  encodeLinks,
  encodeList,
  encodeReap,
  encodeRoutes,
  encodeRun,
  encodeStat,
  type HandIdentity,
  type RouteOp,
  type RunOrder,
} from "../wire/messages.ts";
import { readFolderPage, type FolderPage } from "../wire/folder-page.ts";
import { readNetnsLinks, type NetnsLinks } from "../wire/netns-links.ts";
import { readOutcome, type Outcome } from "../wire/outcome.ts";
import { featureLack, type HandFeature } from "./hand-feature.ts";

/** What a hand needs of its connection; the daemon's server provides it. */
export interface HandChannel {
  send(frame: Uint8Array): void;
  /** The peer is gone or the connection is closed. Its owner tells the hand with `left`. */
  readonly isClosed: boolean;
  /** Aborted then, for who needs a signal. */
  readonly closed: AbortSignal;
  close(): void;
}

/** A hand that has not answered this long after an order's own limit is stuck; cutting it off is the only way to go on. */
const stuckMs = 10_000;
/** For orders that have no limit of their own and take no time. */
const quickMs = 5_000;

const enoent = 2;
const enotdir = 20;

/** Orders that are not a step of a journalled plan get numbers from here up, so the two never meet in a RESUME. */
const unplannedStepMin = 1_000_000;

/** Whether an order was a step of a journalled plan: only those may have left something that the journal must know of. */
export function isPlanned(step: number): boolean {
  return step < unplannedStepMin;
}

/** A connected shim that can be asked to act. The daemon itself executes nothing. */
export class Hand {
  readonly identity: HandIdentity;
  readonly isResident: boolean;
  /** Of the protocol, as agreed with this hand. */
  readonly version: number;
  /** Where plugins are looked for when a record does not say. */
  readonly cniPath: string;
  readonly #channel: HandChannel;
  readonly #clock: Clock;
  /** Orders under way by step; made with the first, as a call that waits for its turn has none. */
  #waiting: Map<number, Waiter> | undefined;
  #nextStep = unplannedStepMin;

  constructor(
    channel: HandChannel,
    identity: HandIdentity,
    options: { clock: Clock; version: number; isResident: boolean; cniPath: string },
  ) {
    this.#channel = channel;
    this.#clock = options.clock;
    this.identity = identity;
    this.version = options.version;
    this.isResident = options.isResident;
    this.cniPath = options.cniPath;
  }

  get isLost(): boolean {
    return this.#channel.isClosed;
  }

  get lost(): AbortSignal {
    return this.#channel.closed;
  }

  /** How many orders are under way. A call's shim takes one at a time, the resident hand eight. */
  get busy(): number {
    return this.#waiting?.size ?? 0;
  }

  /** Whether this hand can be asked for it: an older one cannot, and some things only the resident hand does. */
  supports(feature: HandFeature): boolean {
    return featureLack(feature, this) === undefined;
  }

  /** `onProgress` is told about once a second while the plugin runs, by hands that can: see `supports("progress")`. */
  async run(
    order: RunOrder,
    step: number = this.#unplanned(),
    onProgress?: (idleMs: number) => void,
  ): Promise<Outcome> {
    if (order.scratchNetns === true) this.#require("scratch-netns");
    const asked = this.#ask(step, encodeRun(step, order), order.timeoutMs, readOutcome);
    const waiter = this.#waiting?.get(step);
    if (waiter !== undefined) waiter.onProgress = onProgress;
    return asked;
  }

  routes(netns: NetnsPath, ops: readonly RouteOp[], step: number = this.#unplanned()): Promise<Outcome> {
    return this.#ask(step, encodeRoutes(step, netns, ops), quickMs, readOutcome);
  }

  /** What each path leads to now; undefined where there is nothing. */
  async stat(paths: readonly string[]): Promise<readonly (NetnsIdentity | undefined)[]> {
    const step = this.#unplanned();
    const outcome = await this.#ask(step, encodeStat(step, paths), quickMs, readOutcome);
    if (outcome.failure !== undefined || outcome.found.length !== paths.length) {
      throw new LeveeError(
        "protocol-violated",
        `Cannot look at ${paths.join(", ")}: ${outcome.message || "the hand answered for another number of paths"}`,
      );
    }
    return outcome.found;
  }

  /** The interfaces inside a namespace, or with an empty path on the host; undefined when the path leads nowhere. */
  async links(netns: NetnsPath | ""): Promise<NetnsLinks | undefined> {
    this.#require("links");
    const step = this.#unplanned();
    return done(await this.#ask(step, encodeLinks(step, netns), quickMs, readNetnsLinks));
  }

  /** One page of a folder of the host, in the order of the names' bytes; undefined when there is no such folder. */
  async list(folder: string, after?: string): Promise<FolderPage | undefined> {
    this.#require("list");
    const step = this.#unplanned();
    return done(await this.#ask(step, encodeList(step, folder, after), quickMs, readFolderPage));
  }

  /** Makes sure that nothing of a lost hand is running any more. */
  async reap(lost: ProcessIdentity, timeoutMs: number): Promise<"empty" | "alive" | "timeout"> {
    const step = this.#unplanned();
    const outcome = await this.#ask(step, encodeReap(step, lost, timeoutMs), timeoutMs, readOutcome);
    if (outcome.alive) return "alive";
    return outcome.failure === undefined ? "empty" : "timeout";
  }

  /** Ends a run early; its outcome still arrives, as a failure. */
  kill(step: number): void {
    if (this.#waiting?.has(step) === true && !this.isLost) this.#channel.send(encodeFrame("KILL", [["step", step]]));
  }

  /** Takes an OUTCOME frame from the connection. */
  settle(frame: Frame): void {
    const step = required(numberField(frame, "step"), frame, "step");
    const waiter = this.#waiting?.get(step);
    if (waiter === undefined)
      throw new LeveeError("protocol-violated", `Cannot use an outcome nobody asked for: its step is ${step}`);
    // Read first: while it waits, an outcome that cannot be read ends it with the connection, not in silence.
    waiter.take(frame);
    this.#waiting?.delete(step);
    waiter.stopTimer();
  }

  /** Takes a PROGRESS frame: how long the plugin of a step has used no CPU. */
  progressed(frame: Frame): void {
    this.#require("progress");
    const step = required(numberField(frame, "step"), frame, "step");
    const idleMs = required(numberField(frame, "idle_ms"), frame, "idle_ms");
    const waiter = this.#waiting?.get(step);
    if (waiter === undefined)
      throw new LeveeError(
        "protocol-violated",
        `Cannot use progress of a run that nobody asked for: its step is ${step}`,
      );
    waiter.onProgress?.(idleMs);
  }

  #ask<T>(step: number, frame: Uint8Array, limitMs: number, read: (outcome: Frame) => T): Promise<T> {
    if (this.isLost) return Promise.reject(this.#lostError());
    return new Promise((resolve, reject) => {
      const stopTimer = this.#clock.after(limitMs + stuckMs, () => this.#channel.close());
      (this.#waiting ??= new Map<number, Waiter>()).set(step, {
        take: (outcome) => resolve(read(outcome)),
        reject,
        stopTimer,
        onProgress: undefined,
      });
      this.#channel.send(frame);
    });
  }

  #require(feature: HandFeature): void {
    const lack = featureLack(feature, this);
    if (lack !== undefined)
      throw new LeveeError("protocol-violated", `Cannot ask ${this.identity.software} for ${feature}: ${lack}`);
  }

  #unplanned(): number {
    return this.#nextStep++;
  }

  /** The peer is gone: told by who owns the connection, as a signal for each call costs more than the rest of its end. */
  left(): void {
    const waiters = [...(this.#waiting?.values() ?? [])];
    this.#waiting = undefined;
    for (const waiter of waiters) {
      waiter.stopTimer();
      waiter.reject(this.#lostError());
    }
  }

  #lostError(): LeveeError {
    return new LeveeError("hand-lost", `Cannot go on as the shim with process ID ${this.identity.pid} went away`);
  }
}

/** "Nothing there" is an answer; that it could not be seen is an error: somebody deletes things because of the answer. */
function done<T>({ value, outcome }: { readonly value: T; readonly outcome: Outcome }): T | undefined {
  if (outcome.failure === undefined) return value;
  if (outcome.errno === enoent || outcome.errno === enotdir) return undefined;
  throw new LeveeError(outcome.failure === "refused" ? "protocol-violated" : "io-failed", outcome.message);
}

interface Waiter {
  take(outcome: Frame): void;
  reject(error: Error): void;
  stopTimer(): void;
  onProgress: ((idleMs: number) => void) | undefined;
}
