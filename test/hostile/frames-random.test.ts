import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { encodeFrame, frameBytesMax } from "../../src/wire/frame.ts";
import { Lab } from "../lab/lab.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { framesOf, loadTranscript } from "../skew/transcript.ts";
import { callFrame } from "./call-frame.ts";
import { Health } from "./health.ts";
import { mutateBytes } from "./mutate.ts";
import { warmUp } from "./obedient-hand.ts";
import { inParallel, trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

let lab: Lab;
let health: Health;
let pid: number;

beforeAll(async () => {
  lab = await Lab.make();
  await lab.plugin("first");
  const primary = { cniVersion: "1.1.0", name: "primary", ...lab.conf("first") };
  await lab.configure({ delegates: [primary], addLookupMs: 100, logLevel: "error" });
  pid = (await lab.startDaemon()).pid ?? 0;
  await warmUp(lab);
});

afterAll(() => lab.remove());

beforeEach(() => {
  health = Health.of(lab, pid);
});

afterEach(() => health.expectSound());

/** Streams that shims, hands and the CLI have really sent, and some that they never would. */
function streams(): readonly Buffer[] {
  const recorded = ["add-two-networks", "del", "failing-add", "resume", "resident", "ask", "status", "check"].map(
    (name) =>
      Buffer.concat(
        framesOf(loadTranscript(name), 0)
          .filter(({ from }) => from === "shim")
          .map(({ bytes }) => bytes),
      ),
  );
  const resumed = framesOf(loadTranscript("resume"), 1)
    .filter(({ from }) => from === "shim")
    .map(({ bytes }) => bytes);
  return [
    ...recorded,
    Buffer.concat(resumed),
    Buffer.concat([callFrame(), callFrame({ verb: "DEL" })]),
    Buffer.alloc(64),
  ];
}

test("nine thousand mutated streams end in a frame of ours or a closed connection", async () => {
  const originals = streams();
  await inParallel(trials(9_000), 24, (random) =>
    trial(random, "A mutated stream", async () => {
      const peer = await RawPeer.connect(lab.socketDir);
      sendInPieces(random, peer, mutateBytes(random, random.pick(originals)));
      if (random.below(4) > 0) peer.end();
      else peer.cut();
      await peer.rest();
    }),
  );
});

function sendInPieces(random: Random, peer: RawPeer, bytes: Buffer): void {
  const at = random.below(bytes.length + 1);
  peer.send(bytes.subarray(0, at));
  peer.send(bytes.subarray(at));
}

test("large frames, one after the other, are read and forgotten", async () => {
  for (let round = 0; round < 40; round += 1) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(encodeFrame("CONFIG", [["config", Buffer.alloc(frameBytesMax - 100, round)]]));
    expect((await peer.rest()).map(({ type }) => type)).toEqual(["REFUSE"]);
  }
});
