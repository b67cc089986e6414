import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError, type ErrorCode } from "../../base/errors.ts";
import type { Hand } from "../../hands/hand.ts";
import { relayOrder, type LentOrder } from "../../hands/relay-order.ts";
import { FrameReader } from "../../wire/frame-reader.ts";
import {
  decodeFrame,
  encodeFrame,
  numberField,
  required,
  textField,
  withNumber,
  type Frame,
} from "../../wire/frame.ts";
import { encodeRefuse } from "../../wire/messages.ts";
import type { CallChannel, CallOwner } from "../socket/server-connection.ts";

/** How a call ended: with output for its caller, or without an answer. */
export type StandInEnd =
  | { readonly exitCode: number; readonly output: string }
  | { readonly exitCode: undefined; readonly error: LeveeError };

export interface StandInOptions {
  readonly clock: Clock;
  readonly resident: Hand;
  /** The CONFIG frame of the call. */
  readonly config: Frame;
  readonly budgetMs: number;
}

/** What a shim carries out for its call. */
const orders: ReadonlySet<string> = new Set(["RUN", "ROUTES", "STAT", "LINKS", "REAP"]);

/** One error for all calls, because its stack is never read. */
const callerGone = new LeveeError(
  "hand-lost",
  "Cannot go on with the call: its caller or the resident hand has gone, and what it did is undone",
);

/** As for a shim: a call that lasts longer past its budget is stuck. */
const overtimeMs = 2_000;

/**
 * The shim's side of a call whose caller has no `levee-shim`. The daemon gives it orders as to any shim, and the resident
 * hand carries them out. It ends as a shim does: never before the plugin that runs for it.
 */
export class StandIn implements CallChannel {
  closeAtMs = Number.POSITIVE_INFINITY;
  readonly #options: StandInOptions;
  readonly #reader = new FrameReader();
  readonly #running = new Map<number, RelayedOrder>();
  readonly #end = Promise.withResolvers<StandInEnd>();
  readonly #gone = new AbortController();
  readonly #stopTimer: () => void;
  readonly #onLost = (): void => this.#leave();
  #owner: CallOwner | undefined;
  #isEnding = false;
  #hasAnswered = false;

  constructor(options: StandInOptions) {
    const { clock, resident, budgetMs } = options;
    this.#options = options;
    this.#stopTimer = clock.after(budgetMs + overtimeMs, () => this.close());
    resident.lost.addEventListener("abort", this.#onLost, { once: true });
  }

  /** Never rejects. */
  get end(): Promise<StandInEnd> {
    return this.#end.promise;
  }

  get closed(): AbortSignal {
    return this.#gone.signal;
  }

  get isClosed(): boolean {
    return this.#gone.signal.aborted;
  }

  handOver(owner: CallOwner): void {
    this.#owner = owner;
  }

  send(bytes: Uint8Array): void {
    if (this.isClosed) return;
    for (const frame of this.#reader.push(bytes)) this.#take(frame);
  }

  endWith(bytes: Uint8Array): void {
    this.send(bytes);
    this.#leave();
  }

  refuse(error: LeveeError): void {
    this.endWith(encodeRefuse(error));
  }

  /** The caller has gone, or the call is stuck: its plugins end, and then the daemon hears that the shim is lost. */
  close(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    for (const order of this.#running.values()) order.drop();
    if (this.#running.size === 0) this.#leave();
  }

  #take(frame: Frame): void {
    if (orders.has(frame.type)) {
      // Behind the end nothing begins any more; the daemon undoes the rest by the resident hand itself.
      if (!this.#isEnding) void this.#relay(frame);
      return;
    }
    switch (frame.type) {
      case "GO":
        return this.#reply(this.#options.config);
      case "FINISH":
        return this.#finish(frame);
      case "REFUSE":
        return this.#end.resolve({ exitCode: undefined, error: refusalOf(frame) });
      case "KILL":
        return this.#running.get(stepOf(frame))?.drop();
      default:
    }
  }

  #finish(frame: Frame): void {
    const exitCode = required(numberField(frame, "exit_code"), frame, "exit_code");
    // A caller that has gone takes no result, so its pod does not run with it.
    const isTaken = !this.#isEnding;
    this.#hasAnswered = true;
    this.#end.resolve({ exitCode, output: textField(frame, "output") ?? "" });
    this.#reply(frameOf(encodeFrame("ACK", [["printed", isTaken]])));
  }

  async #relay(frame: Frame): Promise<void> {
    const step = stepOf(frame);
    const order = new RelayedOrder(this.#options.resident, (idleMs) => this.#progressed(step, idleMs));
    this.#running.set(step, order);
    try {
      const outcome = await relayOrder(this.#options.resident, frame, order);
      this.#running.delete(step);
      if (!this.#isEnding)
        this.#reply(outcome === undefined ? droppedOutcome(step) : withNumber(outcome, "step", step));
      else if (this.#running.size === 0) this.#leave();
    } catch (thrown) {
      // The resident hand is lost: what runs there has ended before it connects again. Or its outcome cannot be used.
      this.#leave(toLeveeError(thrown, "Cannot carry out an order"));
    }
  }

  #progressed(step: number, idleMs: number): void {
    const fields = [
      ["step", step],
      ["idle_ms", idleMs],
    ] as const;
    if (!this.#isEnding) this.#reply(frameOf(encodeFrame("PROGRESS", fields)));
  }

  #reply(frame: Frame): void {
    this.#owner?.take(frame);
  }

  #leave(reason = callerGone): void {
    if (this.isClosed) return;
    this.#isEnding = true;
    this.#stopTimer();
    this.#options.resident.lost.removeEventListener("abort", this.#onLost);
    this.#gone.abort(reason);
    if (!this.#hasAnswered) this.#end.resolve({ exitCode: undefined, error: reason });
    this.#owner?.left?.(reason);
  }
}

/** One order while the resident hand has it. */
class RelayedOrder implements LentOrder {
  readonly progressed: (idleMs: number) => void;
  readonly #hand: Pick<Hand, "kill">;
  #step: number | undefined;
  #isDropped = false;

  constructor(hand: Pick<Hand, "kill">, progressed: (idleMs: number) => void) {
    this.#hand = hand;
    this.progressed = progressed;
  }

  get isDropped(): boolean {
    return this.#isDropped;
  }

  begun(step: number): void {
    this.#step = step;
  }

  /** Its plugin is killed, or never starts. */
  drop(): void {
    this.#isDropped = true;
    if (this.#step !== undefined) this.#hand.kill(this.#step);
  }
}

function stepOf(frame: Frame): number {
  return required(numberField(frame, "step"), frame, "step");
}

/** A frame as its reader sees it. */
export function frameOf(bytes: Uint8Array): Frame {
  return decodeFrame(bytes.subarray(lengthBytes));
}

/** The length in front of each frame. */
const lengthBytes = 4;

function droppedOutcome(step: number): Frame {
  const fields = [
    ["step", step],
    ["failure", "killed"],
    ["message", "it was not started"],
  ] as const;
  return frameOf(encodeFrame("OUTCOME", fields));
}

function refusalOf(frame: Frame): LeveeError {
  return new LeveeError((textField(frame, "code") ?? "internal") as ErrorCode, textField(frame, "message") ?? "");
}
