import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { numberField, protocolVersion, textField, type Frame } from "../../src/wire/frame.ts";
import { Lab } from "../lab/lab.ts";
import { leftovers } from "../lab/leftovers.ts";
import { OldShim } from "./old-shim.ts";
import { RawPeer } from "./raw-peer.ts";
import { furnish, Scene } from "./scene.ts";
import { framesOf, loadTranscript, withUnknownFields, withVersions } from "./transcript.ts";

setDefaultTimeout(30_000);

let scene: Scene;
let lab: Lab;

beforeAll(async () => {
  scene = await Scene.hold();
  lab = await Lab.make();
  await furnish(lab);
  await lab.startDaemon();
});

afterAll(async () => {
  await lab.remove();
  await scene[Symbol.asyncDispose]();
});

afterEach(async () => {
  expect(await leftovers(lab)).toEqual([]);
  expect(lab.daemonLog).not.toContain("defect");
});

function firstOf(name: string): Buffer {
  return framesOf(loadTranscript(name), 0)[0]?.bytes ?? Buffer.alloc(0);
}

async function answerTo(bytes: Uint8Array): Promise<readonly Frame[]> {
  const peer = await RawPeer.connect(lab.socketDir);
  peer.send(bytes);
  return peer.rest();
}

function newer(bytes: Buffer): Uint8Array {
  return withUnknownFields(withVersions(bytes, 1, 9));
}

test("a shim that speaks 1 to 9 and says more than we know is served in the newest we know", async () => {
  for (const name of ["add-two-networks", "check", "del", "failing-add", "status"]) {
    const shim = await OldShim.start(lab.socketDir, loadTranscript(name), { dress: newer });
    expect((await shim.until("BYE"))?.type).toBe("BYE");
    const [welcome] = shim.heard;
    expect({ type: welcome?.type, version: welcome === undefined ? 0 : numberField(welcome, "version") }).toEqual({
      type: "WELCOME",
      version: protocolVersion,
    });
    expect(shim.unasked).toEqual([]);
  }
});

test("a CLI that speaks 1 to 9 is answered", async () => {
  const [answer] = await answerTo(newer(firstOf("ask")));
  expect(answer?.type).toBe("ANSWER");
});

test.each([
  ["a newer shim", 7, 9],
  ["a shim from before version 1", 0, 0],
])("%s is refused with both ranges and what to do", async (_, min, max) => {
  for (const name of ["add-two-networks", "resume", "resident", "ask"]) {
    const [refusal, ...more] = await answerTo(withVersions(firstOf(name), min, max));
    expect({ type: refusal?.type, more }).toEqual({ type: "REFUSE", more: [] });
    const message = refusal === undefined ? "" : textField(refusal, "message");
    expect(message).toContain(`speaks protocol ${min} to ${max}`);
    expect(message).toContain("this daemon 1 to 6");
    expect(message).toContain("install the shim that came with the daemon");
  }
});

test("a range the wrong way round is refused like one that does not meet ours", async () => {
  const [refusal] = await answerTo(withVersions(firstOf("del"), 9, 0));
  expect(refusal?.type).toBe("REFUSE");
});

test.each([
  ["as a first frame", []],
  ["in the middle of a call", [firstOf("add-two-networks")]],
  ["from a resident hand", [firstOf("resident")]],
])("a frame of a type that we do not know ends the connection with a clear error: %s", async (_, before) => {
  const unknown = Buffer.from([1, 0, 0, 0, 50]);
  const peer = await RawPeer.connect(lab.socketDir);
  for (const bytes of before) {
    peer.send(bytes);
    expect((await peer.next())?.type).toBe("WELCOME");
  }
  peer.send(unknown);
  const refusal = (await peer.rest()).at(-1);
  expect(refusal?.type).toBe("REFUSE");
  expect(refusal === undefined ? "" : textField(refusal, "message")).toContain("unknown type: its number is 50");
});
