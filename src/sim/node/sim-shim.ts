import { bytesField, encodeFrame, numberField, textField, type Frame, type OutgoingField } from "../../wire/frame.ts";
import type { SimProcess } from "../time/sim-process.ts";
import { callFrame, callIfname, progressOf, type SimCall } from "./sim-call.ts";
import { pluginCallOf } from "./plugin-call-of.ts";
import { SimHand, type EndedOrder, type RunToUndo } from "./sim-hand.ts";
import { SimInbox } from "./sim-inbox.ts";
import type { SimNetns, SimSession } from "./sim-kernel.ts";
import type { SimNode } from "./sim-node.ts";
import { writeOffline } from "./sim-offline.ts";
import type { SimWire } from "./sim-wire.ts";

/** The limits of `shim/src/call/limits.rs`. */
const limits = { addMs: 110_000, addUndoMs: 8_000, delMs: 50_000, addReachMs: 47_000, delReachMs: 2_000 };
const lostRunMs = 25_000;
const jitterMs = { min: 100, max: 2_000 };
const killRoomMs = 500;

type Ending = { readonly exitCode: number } | { readonly lost: true } | NoAnswer;

interface NoAnswer {
  readonly noAnswer: string;
  /** No daemon was there. */
  readonly wasAway: boolean;
}

/** One call of the runtime, in the order of steps of `shim/src/call/make_call.rs`. */
export class SimShim {
  readonly #node: SimNode;
  readonly #call: SimCall;
  readonly #session: SimSession;
  readonly #process: SimProcess;
  readonly #hand: SimHand;
  readonly #netns: SimNetns | undefined;
  readonly #wholeMs: number;
  readonly #workMs: number;
  readonly #inbox: SimInbox;
  #wire: SimWire | undefined;
  #token: Uint8Array | undefined;
  #last: EndedOrder | undefined;
  #toUndo: RunToUndo[] = [];
  #pauseMs = jitterMs.min;
  #isPrinted = false;
  /** The runtime sees the end of the process. */
  onKilled: () => void = () => undefined;

  constructor(node: SimNode, call: SimCall) {
    this.#node = node;
    this.#call = call;
    this.#session = node.kernel.newSession(`shim ${call.verb} ${call.containerId}`);
    this.#process = this.#session.process;
    this.#netns = node.kernel.netns.get(call.netns);
    const beganMs = this.#process.monotonicMs();
    const isAdd = call.verb === "ADD";
    this.#wholeMs = beganMs + (isAdd ? limits.addMs : limits.delMs);
    this.#workMs = this.#wholeMs - (isAdd ? limits.addUndoMs : 0);
    const onEnded = (ended: EndedOrder): void => this.#ended(ended);
    const onProgress = progressOf(node.machine, (frame) => this.#wire?.send(frame));
    const { kernel, plugins, runtimeDir } = node;
    this.#hand = new SimHand({ kernel, plugins, runtimeDir, session: this.#session, onEnded, onProgress });
    this.#inbox = new SimInbox(this.#process);
  }

  /** Killed, it never ends by itself. Its plugin goes on. */
  kill(): void {
    if (!this.#process.isAlive) return;
    this.#node.kernel.endSession(this.#session);
    this.#wire?.close();
    this.onKilled();
  }

  /** Resolves to the exit code. */
  async run(): Promise<number> {
    const ending = await this.#untilAnswered();
    const exitCode = "exitCode" in ending ? await this.#deliver(ending.exitCode) : await this.#endWithout(ending);
    this.#wire?.close();
    this.#node.kernel.endSession(this.#session);
    return exitCode;
  }

  async #untilAnswered(): Promise<{ readonly exitCode: number } | NoAnswer> {
    for (let isFirst = true; ; isFirst = false) {
      const away = await this.#reach(this.#now() + this.#patienceMs(), isFirst);
      if (away !== undefined) return away;
      const ending = await this.#converse();
      if (!("lost" in ending)) return ending;
      // The daemon would not know of a run in progress, so the run ends before the shim reconnects.
      const untilMs = Math.min(this.#now() + lostRunMs, this.#workMs);
      while (!this.#hand.isIdle && this.#now() < untilMs) await this.#inbox.next(untilMs);
      if (this.#now() >= this.#workMs) return { noAnswer: "at its limit", wasAway: false };
      if (!this.#hand.isIdle) this.#hand.killAll();
    }
  }

  /** Connects, with pauses between the tries. Undefined when it has. */
  async #reach(untilMs: number, isFirst: boolean): Promise<NoAnswer | undefined> {
    for (let waits = !isFirst; ; waits = true) {
      if (waits) {
        await this.#process.sleep(Math.min(this.#nextPause(), Math.max(0, untilMs - this.#now())));
        if (this.#now() >= untilMs) return { noAnswer: "no daemon", wasAway: true };
      }
      if (this.#connect()) return undefined;
    }
  }

  #connect(): boolean {
    this.#inbox.clear();
    this.#wire = this.#node.connect(this.#process, (from) => this.#inbox.put(from));
    return this.#wire !== undefined;
  }

  async #converse(): Promise<Ending> {
    this.#wire?.send(this.#greeting());
    for (;;) {
      const next = await this.#inbox.next(this.#workMs);
      if (next === undefined) return { noAnswer: "at its limit", wasAway: false };
      if (next === "lost") return { lost: true };
      if (next === "ended") continue;
      const ending = this.#obey(next.frame);
      if (ending !== undefined) return ending;
    }
  }

  #obey(frame: Frame): Ending | undefined {
    switch (frame.type) {
      case "WELCOME":
        this.#token = bytesField(frame, "token");
        this.#pauseMs = jitterMs.min;
        return undefined;
      case "HEARTBEAT":
        return undefined;
      case "GO":
        this.#wire?.send(encodeFrame("CONFIG", [["config", this.#call.config]]));
        return undefined;
      case "FINISH":
        return { exitCode: numberField(frame, "exit_code") ?? 1 };
      case "REFUSE":
        return { noAnswer: textField(frame, "message") ?? "", wasAway: false };
      case "RUN":
        this.#remember(frame);
        this.#hand.take(frame);
        return undefined;
      default:
        this.#hand.take(frame);
        return undefined;
    }
  }

  #remember(frame: Frame): void {
    const undoTimeoutMs = numberField(frame, "undo_timeout_ms");
    if (undoTimeoutMs === undefined) return;
    const call = { ...pluginCallOf(frame), verb: "DEL", timeoutMs: undoTimeoutMs };
    this.#toUndo.push({ step: numberField(frame, "step") ?? 0, call, undoTimeoutMs });
  }

  #ended(ended: EndedOrder): void {
    this.#last = ended;
    if (this.#wire?.isOpen === true) this.#wire.send(encodeFrame("OUTCOME", [["step", ended.step], ...ended.fields]));
    this.#inbox.put("ended");
  }

  /** The result is written; then the daemon records that, or the shim does. */
  async #deliver(exitCode: number): Promise<number> {
    this.#hand.killAll();
    this.#isPrinted = true;
    this.#wire?.send(encodeFrame("ACK", [["printed", true]]));
    const isRecorded = await this.#waitForBye();
    return isRecorded || this.#call.verb !== "ADD" || exitCode !== 0 ? exitCode : await this.#leaveAcknowledgement();
  }

  async #leaveAcknowledgement(): Promise<number> {
    const name = `${Buffer.from(this.#token ?? []).toString("hex")}.ack`;
    if (await writeOffline(this.#node, this.#process, name, [encodeFrame("ACK", [["printed", true]])])) return 0;
    while ((await this.#reach(this.#wholeMs, false)) === undefined) {
      this.#wire?.send(this.#greeting());
      if (await this.#waitForBye()) return 0;
    }
    return 1;
  }

  async #waitForBye(): Promise<boolean> {
    for (;;) {
      const next = await this.#inbox.next(this.#wholeMs);
      if (next === undefined || next === "lost") return false;
      if (next === "ended") continue;
      if (next.frame.type === "BYE") return true;
      if (next.frame.type === "REFUSE") return false;
      if (next.frame.type === "WELCOME") this.#token = bytesField(next.frame, "token");
      if (next.frame.type === "FINISH") this.#wire?.send(encodeFrame("ACK", [["printed", true]]));
    }
  }

  async #endWithout({ wasAway }: NoAnswer): Promise<number> {
    this.#hand.killAll();
    this.#wire?.close();
    if (this.#call.verb === "ADD") {
      await this.#undoAll();
      return 1;
    }
    const frames = [this.#callFrame(), encodeFrame("CONFIG", [["config", this.#call.config]])];
    if (!(await writeOffline(this.#node, this.#process, `${this.#call.containerId}:${callIfname}.del`, frames)))
      return 1;
    // A daemon that started meanwhile may have read the folder before the file was there.
    if (!wasAway || this.#now() >= this.#workMs) return 0;
    const ending: Ending = this.#connect() ? await this.#converse() : { lost: true };
    return "exitCode" in ending ? await this.#deliver(ending.exitCode) : 0;
  }

  /** Last run first, each with a fair share of the time. */
  async #undoAll(): Promise<void> {
    let left = this.#toUndo.length;
    for (const { step, call, undoTimeoutMs } of this.#toUndo.toReversed()) {
      const timeoutMs = Math.min(undoTimeoutMs, (this.#wholeMs - this.#now()) / left);
      left -= 1;
      if (timeoutMs <= 0) continue;
      const untilMs = this.#now() + timeoutMs + killRoomMs;
      this.#hand.run(step, { ...call, timeoutMs });
      while (!this.#hand.isIdle && this.#now() < untilMs) await this.#inbox.next(untilMs);
      this.#hand.killAll();
    }
  }

  #greeting(): Uint8Array {
    if (this.#token === undefined) return this.#callFrame();
    const last: readonly OutgoingField[] =
      this.#last === undefined ? [] : [["step", this.#last.step], ...this.#last.fields];
    return this.#callFrame([["token", this.#token], ["printed", this.#isPrinted], ...last]);
  }

  #callFrame(resume?: readonly OutgoingField[]): Uint8Array {
    const leftMs = this.#wholeMs - this.#now();
    return callFrame(this.#call, { session: this.#session, netns: this.#netns, leftMs }, resume);
  }

  #patienceMs(): number {
    const patienceMs = this.#call.verb === "ADD" ? limits.addReachMs : limits.delReachMs;
    return Math.min(patienceMs, Math.max(0, this.#workMs - this.#now()));
  }

  /** Decorrelated jitter. */
  #nextPause(): number {
    const { min, max } = jitterMs;
    this.#pauseMs = Math.min(max, min + this.#process.random() * (3 * this.#pauseMs - min));
    return this.#pauseMs;
  }

  #now(): number {
    return this.#process.monotonicMs();
  }
}
