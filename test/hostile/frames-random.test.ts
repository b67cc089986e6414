import { expect, setDefaultTimeout, test } from "bun:test";
import { encodeFrame, frameBytesMax } from "../../src/wire/frame.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { framesOf, loadTranscript } from "../skew/transcript.ts";
import { lab, withAttackedDaemon } from "./attacked-daemon.ts";
import { callFrame } from "./call-frame.ts";
import { mutateBytes } from "./mutate.ts";
import { inParallel, trial, trials, type Random } from "./random.ts";

setDefaultTimeout(120_000);

withAttackedDaemon({ addLookupMs: 100, logLevel: "error" });

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
