import { encodeFrame } from "../../wire/frame.ts";
import { introduction, progressOf } from "./sim-call.ts";
import { SimHand, type EndedOrder } from "./sim-hand.ts";
import type { SimSession } from "./sim-kernel.ts";
import type { SimNode } from "./sim-node.ts";
import type { FromDaemon, SimWire } from "./sim-wire.ts";

const pauseMsMax = 2_000;
/** The runs of a lost daemon get this long before the hand connects again. */
const lostRunMs = 25_000;

/** The resident hand, as `shim/src/resident/serve.rs`: it stays connected, and connects again when the daemon is back. */
export class SimResident {
  readonly #node: SimNode;
  readonly #session: SimSession;
  readonly #hand: SimHand;
  #wire: SimWire | undefined;

  constructor(node: SimNode) {
    this.#node = node;
    this.#session = node.kernel.newSession("resident");
    const { kernel, plugins, runtimeDir } = node;
    const onEnded = (ended: EndedOrder): void => this.#ended(ended);
    const onProgress = progressOf(node.machine, (frame) => this.#wire?.send(frame));
    this.#hand = new SimHand({ kernel, plugins, runtimeDir, session: this.#session, onEnded, onProgress });
  }

  start(): void {
    this.#soon();
  }

  kill(): void {
    this.#node.kernel.endSession(this.#session);
    this.#wire?.close();
  }

  #soon(): void {
    const { process } = this.#session;
    process.after(100 + process.random() * pauseMsMax, () => this.#connect());
  }

  #connect(): void {
    this.#wire = this.#node.connect(this.#session.process, (from) => this.#take(from));
    if (this.#wire === undefined) return this.#soon();
    this.#wire.send(encodeFrame("RESIDENT", introduction(this.#session)));
  }

  #take(from: FromDaemon): void {
    if (from === "lost") return this.#finishRuns(this.#session.process.monotonicMs() + lostRunMs);
    const { frame } = from;
    // A daemon that refuses hangs up too, and then the hand comes again.
    if (["WELCOME", "HEARTBEAT", "REFUSE"].includes(frame.type)) return;
    this.#hand.take(frame);
  }

  #ended({ step, fields }: EndedOrder): void {
    this.#wire?.send(encodeFrame("OUTCOME", [["step", step], ...fields]));
  }

  /** The next daemon does not know these runs and must not start the same ones again. */
  #finishRuns(untilMs: number): void {
    const { process } = this.#session;
    if (this.#hand.isIdle || process.monotonicMs() >= untilMs) {
      this.#hand.killAll();
      return this.#soon();
    }
    process.after(20, () => this.#finishRuns(untilMs));
  }
}
