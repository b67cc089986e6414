import type { NetnsPath } from "../base/brand.ts";
import type { Clock } from "../base/clock.ts";
import { LeveeError } from "../base/errors.ts";
import type { ProcessIdentity } from "../base/identity.ts";
import { encodeFrame, numberField, required, type Frame } from "../wire/frame.ts";
import {
  encodeList,
  encodeReap,
  encodeRemove,
  encodeRoutes,
  encodeRun,
  encodeStat,
  type HandIdentity,
  type RouteOp,
  type RunOrder,
  type SeenFile,
} from "../wire/messages.ts";
import { readFolderPage, type FolderPage } from "../wire/folder-page.ts";
import { encodeLinks, readNetnsLinks, type LinksQuestion, type NetnsLinks } from "../wire/netns-links.ts";
import { encodeScratch, readScratchPath } from "../wire/scratch-netns.ts";
import { readOutcome, type FoundFile, type Outcome } from "../wire/outcome.ts";
import type { HandChannel } from "./hand-channel.ts";
import { featureLack, type HandFeature } from "./hand-feature.ts";
import type { HandOptions } from "./hand-options.ts";
import { HandPlaces } from "./hand-places.ts";
import type { OrderLimits } from "./order-limits.ts";
import { keptNetns, type KeptNetns } from "./kept-netns.ts";
import { unplannedStepMin } from "./planned-step.ts";
import type { PluginAttendant } from "./plugin-attendant.ts";
import { foundAt, lookResult, requireDone } from "./refusal.ts";

/** A hand that is silent for so long after an order's own limit is stuck, and the daemon closes its connection. */
const stuckMs = 10_000;
/** For quick orders without a limit of their own. */
const quick = { limitMs: 5_000 };

/** The hand waits so long for the lock of a file's owner. */
const locked = { limitMs: 10_000 };

/** A connected shim that carries out the daemon's orders. The daemon itself executes nothing. */
export class Hand {
  readonly identity: HandIdentity;
  readonly isResident: boolean;
  /** The protocol version agreed with this hand. */
  readonly version: number;
  /** The plugin folders for a record that names none. */
  readonly cniPath: string;
  /** Only the resident hand has several users that must wait for each other. */
  readonly places: HandPlaces | undefined;
  /** Set where the calls are traced. */
  tracer: PluginAttendant | undefined;
  readonly #standIns: HandOptions["standIns"];
  readonly #channel: HandChannel;
  readonly #clock: Clock;
  /** Pending orders by step. Created with the first order, because a call in line has none. */
  #waiting: Map<number, Waiter> | undefined;
  #nextStep = unplannedStepMin;

  constructor(channel: HandChannel, identity: HandIdentity, options: HandOptions) {
    this.#channel = channel;
    this.#clock = options.clock;
    this.identity = identity;
    this.version = options.version;
    this.isResident = options.isResident;
    this.cniPath = options.cniPath;
    this.places = options.isResident ? new HandPlaces() : undefined;
    this.#standIns = options.standIns;
  }

  get isLost(): boolean {
    return this.#channel.isClosed;
  }

  get lost(): AbortSignal {
    return this.#channel.closed;
  }

  /** How many orders are pending. The shim of a call takes one at a time, the resident hand eight. */
  get busy(): number {
    return this.#waiting?.size ?? 0;
  }

  supports(feature: HandFeature): boolean {
    return featureLack(feature, this) === undefined;
  }

  /** Calls `onProgress` about once a second while the plugin runs, if the hand supports "progress". */
  async run(order: RunOrder, step = this.freeStep(), onProgress?: (idleMs: number) => void): Promise<Outcome> {
    if (order.scratchNetns === true) this.#require("scratch-netns");
    using _place = this.places === undefined ? undefined : await this.places.runs.take();
    const sent = this.#begin(order);
    const outcome = await this.ask(step, encodeRun(step, sent), { limitMs: order.timeoutMs, onProgress }, readOutcome);
    this.#standIns?.end(outcome, sent);
    this.tracer?.end(outcome, sent);
    return outcome;
  }

  #begin(order: RunOrder): RunOrder {
    const advised = this.#standIns?.begin(order) ?? order;
    return this.tracer?.begin(advised) ?? advised;
  }

  routes(netns: NetnsPath, ops: readonly RouteOp[], step: number = this.freeStep()): Promise<Outcome> {
    return this.ask(step, encodeRoutes(step, netns, ops), quick, readOutcome);
  }

  /** What each path leads to; undefined for a path that does not exist. */
  async stat(paths: readonly string[]): Promise<readonly (FoundFile | undefined)[]> {
    const step = this.freeStep();
    return foundAt(paths, await this.ask(step, encodeStat(step, paths), quick, readOutcome));
  }

  /** The interfaces in a namespace, or on the host for an empty path; undefined when the path does not exist. */
  async links(netns: NetnsPath | "", more: LinksQuestion = {}): Promise<NetnsLinks | undefined> {
    this.#require("links");
    const step = this.freeStep();
    return lookResult(await this.ask(step, encodeLinks(step, netns, more), quick, readNetnsLinks));
  }

  /** One page of a folder on the host, sorted by the bytes of the names; undefined when the folder does not exist. */
  async list(folder: string, after?: string): Promise<FolderPage | undefined> {
    this.#require("list");
    const step = this.freeStep();
    return lookResult(await this.ask(step, encodeList(step, folder, after), quick, readFolderPage));
  }

  /** Removes a file of the host, unless it was changed since it was seen. A file that is gone counts as removed. */
  async remove(file: SeenFile): Promise<void> {
    this.#require("remove");
    const step = this.freeStep();
    requireDone(await this.ask(step, encodeRemove(step, file), locked, readOutcome));
  }

  /** Makes a network namespace, one at a time, and keeps it for at most so long. */
  async keepNetns(limitMs: number): Promise<KeptNetns> {
    this.#require("kept-netns");
    const step = this.freeStep();
    const made = await this.ask(step, encodeScratch(step, limitMs), quick, readScratchPath);
    return keptNetns(made, () => this.#channel.send(encodeFrame("KILL", [["step", step]])));
  }

  /** Makes sure that no process of a lost hand is left. */
  async reap(lost: ProcessIdentity, timeoutMs: number): Promise<"empty" | "alive" | "timeout"> {
    const step = this.freeStep();
    const outcome = await this.ask(step, encodeReap(step, lost, timeoutMs), { limitMs: timeoutMs }, readOutcome);
    if (outcome.alive) return "alive";
    return outcome.failure === undefined ? "empty" : "timeout";
  }

  /** Ends a run early. Its outcome still arrives, as a failure. */
  kill(step: number): void {
    if (this.#waiting?.has(step) === true && !this.isLost) this.#channel.send(encodeFrame("KILL", [["step", step]]));
  }

  killAll(): void {
    for (const step of this.#waiting?.keys() ?? []) this.kill(step);
  }

  /** Takes an OUTCOME frame from the connection. */
  settle(frame: Frame): void {
    const step = required(numberField(frame, "step"), frame, "step");
    const waiter = this.#waiting?.get(step);
    if (waiter === undefined)
      throw new LeveeError("protocol-violated", `Cannot use an outcome without an order: its step is ${step}`);
    // Read before removing the waiter: an unreadable outcome closes the connection, which then rejects the waiter.
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
      throw new LeveeError("protocol-violated", `Cannot use progress without an order: its step is ${step}`);
    waiter.onProgress?.(idleMs);
  }

  /** Sends one order under a free number. */
  ask<T>(step: number, frame: Uint8Array, limits: OrderLimits, read: (outcome: Frame) => T): Promise<T> {
    if (this.isLost) return Promise.reject(this.#lostError());
    return new Promise((resolve, reject) => {
      const stopTimer = this.#clock.after(limits.limitMs + stuckMs, () => this.#channel.close());
      (this.#waiting ??= new Map<number, Waiter>()).set(step, {
        take: (outcome) => resolve(read(outcome)),
        reject,
        stopTimer,
        onProgress: limits.onProgress,
      });
      this.#channel.send(frame);
    });
  }

  #require(feature: HandFeature): void {
    const lack = featureLack(feature, this);
    if (lack !== undefined)
      throw new LeveeError("protocol-violated", `Cannot ask ${this.identity.software} for ${feature}: ${lack}`);
  }

  freeStep(): number {
    return this.#nextStep++;
  }

  /** The connection's owner calls this when the peer is gone. An abort listener for each call would cost more. */
  left(): void {
    const waiters = [...(this.#waiting?.values() ?? [])];
    this.#waiting = undefined;
    this.places?.close(this.#lostError());
    for (const waiter of waiters) {
      waiter.stopTimer();
      waiter.reject(this.#lostError());
    }
  }

  #lostError(): LeveeError {
    return new LeveeError("hand-lost", `Cannot go on as the shim with process ID ${this.identity.pid} went away`);
  }
}

interface Waiter extends Pick<OrderLimits, "onProgress"> {
  take(outcome: Frame): void;
  reject(error: Error): void;
  stopTimer(): void;
}
