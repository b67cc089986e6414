import { bytesField, numberField, type Frame } from "../../src/wire/frame.ts";
import type { ScriptedDaemon } from "../shim/scripted-daemon.ts";
import { framesOf, numberBytes, withField, type RecordedFrame, type Transcript } from "./transcript.ts";

/** No process has this number: the kernel's own limit is lower. The recorded number may belong to another process by now. */
const nobody = 4_194_399;

/** The current shim's answers, by recorded order. */
export interface Answered {
  readonly order: Frame;
  readonly outcome: Frame;
}

/**
 * A daemon of an older version: sends what it sent when it was recorded, byte for byte, each frame once the shim has
 * said what it had said by then. Only the process in REAP is another one, for the safety of those who run this.
 */
export async function playOldDaemon(
  daemon: ScriptedDaemon,
  transcript: Transcript,
  options: OldDaemonOptions = {},
): Promise<readonly Answered[]> {
  const { connection = 0, dress = sameBytes } = options;
  const peer = await daemon.accept();
  const orders = new Map<number | undefined, Frame>();
  const answered: Answered[] = [];
  for (const recorded of framesOf(transcript, connection)) {
    if (recorded.from === "daemon") {
      peer.send(dress(bytesToSend(recorded)));
      orders.set(numberField(recorded.frame, "step"), recorded.frame);
      continue;
    }
    // It comes when it comes, and nothing depends on it.
    if (recorded.frame.type === "PROGRESS") continue;
    const frame = await peer.expect(recorded.frame.type);
    if (frame.type === "RESUME") requireSameToken(frame, recorded.frame);
    if (frame.type === "OUTCOME") answered.push({ order: orderOf(frame, orders), outcome: frame });
  }
  if (isCutOff(transcript, connection)) peer.destroy();
  return answered;
}

function sameBytes(bytes: Buffer): Uint8Array {
  return bytes;
}

function orderOf(outcome: Frame, orders: ReadonlyMap<number | undefined, Frame>): Frame {
  const step = numberField(outcome, "step");
  const order = step === undefined ? undefined : orders.get(step);
  if (order === undefined) throw new Error(`The shim answered an order that nobody gave: ${step}`);
  return order;
}

export interface OldDaemonOptions {
  readonly connection?: number;
  /** Changes every frame before it is sent: how a newer daemon is made of an old one. */
  readonly dress?: (bytes: Buffer) => Uint8Array;
}

function bytesToSend({ frame, bytes }: RecordedFrame): Buffer {
  return frame.type === "REAP" ? withField(bytes, "pid", numberBytes(nobody)) : bytes;
}

/** The token was the old daemon's to choose, and it sent the recorded one. */
function requireSameToken(frame: Frame, recorded: Frame): void {
  const [said, given] = [frame, recorded].map((each) => Buffer.from(bytesField(each, "token") ?? []).toString("hex"));
  if (said !== given) throw new Error(`The shim resumed ${said}, but was given ${given}`);
}

/** Whether the recorded daemon went away without a goodbye. */
function isCutOff(transcript: Transcript, connection: number): boolean {
  const said = framesOf(transcript, connection).filter(({ from }) => from === "daemon");
  const isClosed = transcript.events.some(
    (event) => event.connection === connection && event.from === "daemon" && event.frame === undefined,
  );
  return isClosed && !["BYE", "ANSWER", "REFUSE"].includes(said.at(-1)?.frame.type ?? "");
}
