import type { Clock } from "../../base/clock.ts";
import { LeveeError, toLeveeError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { DaemonConfig } from "../../config/daemon-config.ts";
import { Hand } from "../../hands/hand.ts";
import type { Journal } from "../../state/journal/journal.ts";
import { encodeFrame, required, textField, type Frame } from "../../wire/frame.ts";
import { encodeWelcome, negotiateVersion, readCall, readHandIdentity, readResume } from "../../wire/messages.ts";
import type { Answer } from "../../wire/node-view.ts";
import { Call } from "./call.ts";
import type { CallChannel, ServerConnection } from "../socket/server-connection.ts";

export interface ReceptionNeeds {
  readonly clock: Clock;
  readonly config: Pick<DaemonConfig, "heartbeatMs">;
  readonly logger: Logger;
  readonly software: string;
  readonly journal: Pick<Journal, "findByToken">;
  readonly serve: (call: Call, first: Frame) => void;
  readonly addResident: (hand: Hand) => void;
  /** Answers a command's question. Throws or rejects for a bad question. */
  readonly answer: (question: string) => unknown;
}

/** Sends each new connection to its place by the first frame: a call, a resident hand, or a command's question. */
export class Reception {
  readonly #needs: ReceptionNeeds;

  constructor(needs: ReceptionNeeds) {
    this.#needs = needs;
  }

  receive(connection: ServerConnection, first: Frame): void {
    const version = negotiateVersion(first);
    switch (first.type) {
      case "CALL":
      case "RESUME":
        return this.call(connection, first, version);
      case "RESIDENT":
        return this.#takeResident(connection, first, version);
      case "ASK":
        return this.#answer(connection, first);
      default:
        this.#needs.logger.warn("A peer sent a wrong first frame", { frame: first.type });
        throw new LeveeError("protocol-violated", `Cannot begin a connection with a ${first.type} frame`);
    }
  }

  call(connection: CallChannel, first: Frame, version = negotiateVersion(first)): void {
    const { clock, config, software, journal, serve } = this.#needs;
    const resumed = first.type === "RESUME" ? readResume(first) : undefined;
    const isKnown = resumed !== undefined && journal.findByToken(resumed.token) !== undefined;
    const token = isKnown ? resumed.token : Buffer.from(clock.randomBytes(16)).toString("hex");
    const header = resumed?.call ?? readCall(first);
    const call = new Call({ connection, version, header, clock, token, resumed });
    call.welcome(config.heartbeatMs, software);
    serve(call, first);
  }

  #takeResident(connection: ServerConnection, first: Frame, version: number): void {
    const { clock, config, software, logger, addResident } = this.#needs;
    const hand = new Hand(connection, readHandIdentity(first), {
      clock,
      version,
      isResident: true,
      cniPath: textField(first, "cni_path") ?? "",
    });
    connection.handOver({
      take: (frame) => {
        if (frame.type === "PROGRESS") return hand.progressed(frame);
        if (frame.type !== "OUTCOME")
          throw new LeveeError("protocol-violated", `Cannot take a ${frame.type} frame from the resident hand`);
        hand.settle(frame);
      },
      left: () => hand.left(),
    });
    connection.send(encodeWelcome(clock.randomBytes(16), config.heartbeatMs, software, version));
    logger.info("The resident hand has connected", { pid: hand.identity.pid, software: hand.identity.software });
    const onLost = (): void => logger.info("The resident hand has disconnected", { pid: hand.identity.pid });
    hand.lost.addEventListener("abort", onLost, { once: true });
    addResident(hand);
  }

  /** Most answers come from memory, at once. A bad question is an error, and so is an answer too long for a frame. */
  #answer(connection: ServerConnection, first: Frame): void {
    const tell = (value: unknown): void => connection.endWith(answerFrame({ answer: value }));
    const refuse = (thrown: unknown): void => {
      const error = toLeveeError(thrown, "Cannot answer");
      connection.endWith(answerFrame({ error: { code: error.code, message: error.message } }));
    };
    try {
      const answer = this.#needs.answer(required(textField(first, "question"), first, "question"));
      if (!(answer instanceof Promise)) return tell(answer);
      // Frames that follow the question are ignored.
      connection.handOver({ take: () => undefined });
      answer.then(tell).catch(refuse);
    } catch (thrown) {
      refuse(thrown);
    }
  }
}

function answerFrame(value: Answer<unknown>): Uint8Array {
  return encodeFrame("ANSWER", [["answer", JSON.stringify(value)]]);
}
