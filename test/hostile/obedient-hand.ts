import { existsSync } from "node:fs";
import {
  bytesFields,
  encodeFrame,
  numberField,
  textField,
  type Frame,
  type OutgoingField,
} from "../../src/wire/frame.ts";
import type { Lab } from "../lab/lab.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { callFields, callFrame } from "./call-frame.ts";

/** The result of a plugin that does nothing. */
const plainResult = '{"cniVersion":"1.0.0","interfaces":[],"ips":[],"dns":{}}';

export interface ObeyOptions {
  /** Changes the answers, one by one. */
  readonly dress?: (bytes: Uint8Array, index: number) => Uint8Array;
  readonly config?: string;
  /** The plugins' result of ADD. */
  readonly result?: string;
  /** How long the daemon may keep silent: a resident hand waits for as long as it takes. */
  readonly waitMs?: number;
}

/**
 * Answers everything the daemon orders at once and as if all had gone well, without doing anything: for tests in which
 * only the daemon matters. Ends when the daemon hangs up or after so many frames of its own.
 */
export async function obey(
  peer: RawPeer,
  framesMax = Number.POSITIVE_INFINITY,
  options: ObeyOptions = {},
): Promise<readonly Frame[]> {
  const { dress = (bytes): Uint8Array => bytes, config = "{}", result = plainResult, waitMs } = options;
  const heard: Frame[] = [];
  for (let sent = 0; sent < framesMax;) {
    const frame = await peer.next(waitMs);
    if (frame === undefined) return heard;
    heard.push(frame);
    const answer = answerTo(frame, { config, result });
    if (answer === undefined) continue;
    peer.send(dress(answer, sent));
    sent += 1;
  }
  return heard;
}

function answerTo(frame: Frame, { config, result }: { config: string; result: string }): Uint8Array | undefined {
  switch (frame.type) {
    case "GO":
      return encodeFrame("CONFIG", [["config", config]]);
    case "RUN":
      return outcome(frame, [
        ["exit_code", 0],
        ["stdout", isAdd(frame) ? result : ""],
        ["stderr", ""],
        ["wall_us", 1_000],
      ]);
    case "ROUTES":
      return outcome(frame, []);
    case "STAT":
      return outcome(
        frame,
        bytesFields(frame, "path").map((): OutgoingField => ["found", Uint8Array.from([0])]),
      );
    case "REAP":
      return outcome(frame, [["processes", 0]]);
    case "FINISH":
      return encodeFrame("ACK", [["printed", 1]]);
    default:
      return undefined;
  }
}

function isAdd(frame: Frame): boolean {
  return bytesFields(frame, "env").some((entry) => Buffer.from(entry).toString() === "CNI_COMMAND=ADD");
}

function outcome(order: Frame, fields: readonly OutgoingField[]): Uint8Array {
  return encodeFrame("OUTCOME", [["step", numberField(order, "step")], ...fields]);
}

/** The code and the message of a refusal, or the frame that came instead. */
export function refusalOf(frames: readonly Frame[]): string {
  const last = frames.at(-1);
  if (last?.type === "REFUSE") return `${textField(last, "code")}: ${textField(last, "message")}`;
  return `no refusal but ${frames.map(({ type }) => type).join()}`;
}

/** A hand that does all that is asked, and comes back when it is thrown out. */
export function residentHand(lab: Lab): { stop(): Promise<void> } {
  let isStopped = false;
  let current: RawPeer | undefined;
  const serve = async (): Promise<void> => {
    while (!isStopped) {
      current = await RawPeer.connect(lab.socketDir);
      if (isStopped) current.cut();
      current.send(encodeFrame("RESIDENT", callFields()));
      await obey(current, Number.POSITIVE_INFINITY, { waitMs: Number.POSITIVE_INFINITY });
    }
  };
  // A test that fails takes the daemon away under the hand.
  const served = serve().catch((thrown: unknown) => {
    if (existsSync(lab.folder)) throw thrown;
  });
  return {
    stop: () => {
      isStopped = true;
      current?.cut();
      return served;
    },
  };
}

/** One whole ADD and DEL, so that the daemon has opened and loaded all it needs before it is measured. */
export async function warmUp(lab: Lab, config = "{}"): Promise<void> {
  for (const verb of ["ADD", "DEL"]) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(callFrame({ verb, container_id: "warm-up", config_length: Buffer.byteLength(config) }));
    const last = (await obey(peer, Number.POSITIVE_INFINITY, { config })).at(-1);
    if (last?.type !== "BYE") throw new Error(`Cannot warm up: ${verb} ended with ${last?.type}\n${lab.daemonLog}`);
  }
}
