import { LeveeError, toLeveeError } from "../../base/errors.ts";
import { Hand } from "../../hands/hand.ts";
import { encodeFrame, required, textField, type Frame } from "../../wire/frame.ts";
import { encodeWelcome, negotiateVersion, readCall, readHandIdentity, readResume } from "../../wire/messages.ts";
import type { Answer } from "../../wire/node-view.ts";
import { answerQuestion } from "../answer/answers.ts";
import { Call } from "./call.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import type { NodeFacts } from "../answer/node-facts.ts";
import { serveCall } from "./serve-call.ts";
import type { ServerConnection } from "./server-connection.ts";

export interface Reception extends NodeFacts {
  readonly calls: CallsUnderWay;
}

/** Sends each new connection where its first frame belongs. */
export function receive(connection: ServerConnection, first: Frame, reception: Reception): void {
  const { ports } = reception;
  const version = negotiateVersion(first);
  switch (first.type) {
    case "CALL":
    case "RESUME":
      return startCall(connection, first, reception, version);
    case "RESIDENT":
      return takeResident(connection, first, reception, version);
    case "ASK":
      return answer(connection, first, reception);
    default:
      ports.logger.warn("A peer started with a frame that starts nothing", { frame: first.type });
      throw new LeveeError("protocol-violated", `Cannot start with a ${first.type} frame`);
  }
}

function startCall(connection: ServerConnection, first: Frame, reception: Reception, version: number): void {
  const { ports } = reception;
  const resumed = first.type === "RESUME" ? readResume(first) : undefined;
  const isKnown = resumed !== undefined && ports.journal.findByToken(resumed.token) !== undefined;
  const token = isKnown ? resumed.token : Buffer.from(ports.clock.randomBytes(16)).toString("hex");
  const header = resumed?.call ?? readCall(first);
  const call = new Call({ connection, version, header, clock: ports.clock, token, resumed });
  call.welcome(ports.config.heartbeatMs, reception.software);
  void serveCall(call, reception);
}

function takeResident(connection: ServerConnection, first: Frame, reception: Reception, version: number): void {
  const { ports, software } = reception;
  const hand = new Hand(connection, readHandIdentity(first), {
    clock: ports.clock,
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
  connection.send(encodeWelcome(ports.clock.randomBytes(16), ports.config.heartbeatMs, software, version));
  ports.logger.info("The resident hand is here", { pid: hand.identity.pid, software: hand.identity.software });
  hand.lost.addEventListener(
    "abort",
    () => ports.logger.info("The resident hand is gone", { pid: hand.identity.pid }),
    { once: true },
  );
  ports.recovery.addResident(hand);
}

/** Most questions cost a look at memory and are answered at once; a bad one, or an answer too long to send, is an error. */
function answer(connection: ServerConnection, first: Frame, reception: Reception): void {
  const tell = (value: unknown): void => connection.endWith(answerFrame({ answer: value }));
  const refuse = (thrown: unknown): void => {
    const error = toLeveeError(thrown, "Cannot answer");
    connection.endWith(answerFrame({ error: { code: error.code, message: error.message } }));
  };
  try {
    const question = required(textField(first, "question"), first, "question");
    const told = answerQuestion(question, reception);
    if (!(told instanceof Promise)) return tell(told);
    // What follows a question is for nobody.
    connection.handOver({ take: () => undefined });
    told.then(tell).catch(refuse);
  } catch (thrown) {
    refuse(thrown);
  }
}

function answerFrame(value: Answer<unknown>): Uint8Array {
  return encodeFrame("ANSWER", [["answer", JSON.stringify(value)]]);
}
