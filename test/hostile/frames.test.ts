import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { bytesField, encodeFrame, frameBytesMax, type Frame } from "../../src/wire/frame.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { lab, withAttackedDaemon } from "./attacked-daemon.ts";
import { callFields, callFrame } from "./call-frame.ts";
import { obey, refusalOf } from "./obedient-hand.ts";

setDefaultTimeout(60_000);

withAttackedDaemon({ heartbeatMs: 1_000, undoRetryMs: 100 });

/** Sends bytes, waits for the daemon to hang up, and returns all frames that it sent. */
async function say(...parts: readonly Uint8Array[]): Promise<readonly Frame[]> {
  const peer = await RawPeer.connect(lab.socketDir);
  for (const part of parts) peer.send(part);
  return peer.rest();
}

function raw(...bytes: number[]): Uint8Array {
  return Uint8Array.from(bytes);
}

describe("what is no frame is refused at once", () => {
  test.each<[string, Uint8Array, string]>([
    ["a length of 0", raw(0, 0, 0, 0), "length must be between"],
    ["a length over the limit", raw(1, 0, 16, 0), "1048577"],
    ["the largest length", raw(255, 255, 255, 255), "4294967295"],
    ["an unknown type", raw(1, 0, 0, 0, 200), "its number is 200"],
    ["type 0", raw(1, 0, 0, 0, 0), "its number is 0"],
    ["a field that runs past its frame", raw(6, 0, 0, 0, 1, 5, 9, 0, 0, 0), "runs past its end"],
    ["a field without its length", raw(3, 0, 0, 0, 1, 5, 9), "runs past its end"],
    ["a field of 4 GiB", raw(6, 0, 0, 0, 1, 5, 255, 255, 255, 255), "runs past its end"],
    ["HTTP", Buffer.from("GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n"), "length must be between"],
    ["JSON", Buffer.from('{"jsonrpc":"2.0","method":"ADD"}\n'), "length must be between"],
  ])("%s", async (_, bytes, why) => {
    expect(refusalOf(await say(bytes))).toContain(why);
  });
});

describe("a number of another size is refused", () => {
  test.each([[0], [1], [4], [7], [9], [64]])("%i bytes", async (size) => {
    for (const tag of ["version_min", "pid", "netns_ino", "budget_ms"] as const) {
      expect(refusalOf(await say(callFrame({ [tag]: new Uint8Array(size) })))).toContain(
        `a number has 8 bytes, this one ${size}`,
      );
    }
  });

  test("and one that is too large to count with", async () => {
    expect(refusalOf(await say(callFrame({ budget_ms: 2n ** 64n - 1n })))).toContain("too large");
  });
});

describe("frames that do not belong where they stand are refused", () => {
  test.each([
    ["CONFIG"],
    ["OUTCOME"],
    ["ACK"],
    ["WELCOME"],
    ["GO"],
    ["HEARTBEAT"],
    ["RUN"],
    ["FINISH"],
    ["BYE"],
    ["REFUSE"],
    ["ANSWER"],
  ] as const)("%s as the first one", async (type) => {
    const frames = await say(
      encodeFrame(type, [
        ["version_min", 1],
        ["version_max", 1],
        ["step", 1],
        ["config", "{}"],
        ["printed", 1],
      ]),
    );
    expect(refusalOf(frames)).toContain(`Cannot begin a connection with a ${type} frame`);
  });

  test.each([
    ["a second CALL", callFrame()],
    ["a RESUME", encodeFrame("RESUME", callFields({ token: new Uint8Array(16) }))],
    ["a RESIDENT", encodeFrame("RESIDENT", callFields())],
    ["an ASK", encodeFrame("ASK", [["question", "{}"]])],
    ["an ACK without a FINISH", encodeFrame("ACK", [["printed", 1]])],
    [
      "an OUTCOME of an unknown step",
      encodeFrame("OUTCOME", [
        ["step", 7],
        ["exit_code", 0],
      ]),
    ],
    ["an OUTCOME without a step", encodeFrame("OUTCOME", [["exit_code", 0]])],
    [
      "a daemon's frame",
      encodeFrame("FINISH", [
        ["exit_code", 0],
        ["output", ""],
      ]),
    ],
  ])("%s in a call", async (_, frame) => {
    // The pod is not there, so the call waits for it and the frame meets a living call.
    const call = callFrame({ cni_args: "K8S_POD_NAMESPACE=default;K8S_POD_NAME=never" });
    expect(refusalOf(await say(call, frame))).toMatch(/^protocol-violated: Cannot/);
    expect(refusalOf(await say(Buffer.concat([call, frame])))).toMatch(/^protocol-violated: Cannot/);
  });

  test("CONFIG before GO in a call", async () => {
    // In one breath with the call: of a pod that is not known GO comes at once, and a moment later CONFIG is due.
    const frame = encodeFrame("CONFIG", [["config", "{}"]]);
    expect(refusalOf(await say(Buffer.concat([callFrame(), frame])))).toMatch(/^protocol-violated: Cannot/);
  });

  test.each([["CONFIG"], ["CALL"], ["RESIDENT"], ["ACK"], ["FINISH"], ["ASK"]] as const)(
    "%s from a resident hand",
    async (type) => {
      expect(refusalOf(await say(encodeFrame("RESIDENT", callFields()), encodeFrame(type, callFields())))).toContain(
        `Cannot take a ${type} frame`,
      );
    },
  );
});

test("whatever follows a question in the same breath is not heard any more", async () => {
  const ask = encodeFrame("ASK", [
    ["version_min", 1],
    ["version_max", 1],
    ["question", '{"ask":"node"}'],
  ]);
  for (const more of [encodeFrame("RESIDENT", callFields()), callFrame(), ask, raw(0, 0, 0, 0)]) {
    const frames = await say(Buffer.concat([ask, more]));
    expect(frames.length).toBe(1);
  }
  expect((await lab.ask<{ residentHands: readonly unknown[] }>({ ask: "node" })).residentHands).toEqual([]);
});

describe("a frame may be as long as its limit, and no error is longer", () => {
  const long = "x".repeat(frameBytesMax - 60);

  test("a peer with a long name that speaks another version", async () => {
    const refusal = refusalOf(
      await say(
        encodeFrame("CALL", [
          ["version_min", 9],
          ["version_max", 9],
          ["software", long],
        ]),
      ),
    );
    expect(refusal).toContain("Cannot talk to x");
    expect(refusal.length).toBeLessThan(10_000);
  });

  test("a question that is too long to repeat", async () => {
    const ask = (question: string): Uint8Array =>
      encodeFrame("ASK", [
        ["version_min", 1],
        ["version_max", 1],
        ["question", question],
      ]);
    const most = long.slice(200);
    for (const question of [
      `"${most}"`,
      JSON.stringify({ ask: most }),
      JSON.stringify({ ask: "timeline", namespace: "a", name: most }),
      `{"ask":${"\\u0000".repeat(10)}`,
      "[".repeat(500_000),
    ]) {
      const [answer] = await say(ask(question));
      expect(answer?.type).toBe("ANSWER");
    }
  });

  test.each([["verb"], ["container_id"], ["netns"], ["ifname"], ["cni_args"], ["cni_path"], ["software"]])(
    "a long %s",
    async (tag) => {
      const peer = await RawPeer.connect(lab.socketDir);
      expect(refusalOf(await say(callFrame({ [tag]: "\u0001".repeat(frameBytesMax - 2_000) })))).toContain(
        `its field ${tag} may have 32768 bytes`,
      );
      peer.send(callFrame({ [tag]: "\u0001".repeat(32_768), netns_ino: undefined }));
      expect((await peer.next())?.type).toBe("WELCOME");
      // Either asked for the configuration, or told and hung up; in no case kept waiting.
      expect(["GO", "FINISH", "REFUSE", undefined]).toContain((await peer.next())?.type);
      peer.cut();
    },
  );
});

test("a frame of nothing but fields is refused by their number", async () => {
  const fields = Buffer.alloc(frameBytesMax - 1);
  for (let at = 0; at + 5 <= fields.length; at += 5) fields[at] = 23;
  const frame = Buffer.concat([
    Buffer.alloc(4),
    Buffer.from([1]),
    fields.subarray(0, fields.length - (fields.length % 5)),
  ]);
  frame.writeUInt32LE(frame.length - 4, 0);
  for (let round = 0; round < 5; round += 1) expect(refusalOf(await say(frame))).toContain("fields");
});

test("an outcome that cannot be read ends the call it belongs to, and its slot is free again", async () => {
  for (let round = 0; round < 12; round += 1) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(callFrame({ container_id: `bad-${round}` }));
    const types: string[] = [];
    for (let frame = await peer.next(); frame !== undefined; frame = await peer.next()) {
      types.push(frame.type);
      if (frame.type === "GO") peer.send(encodeFrame("CONFIG", [["config", "{}"]]));
      if (frame.type === "STAT")
        peer.send(
          encodeFrame("OUTCOME", [
            ["step", 1_000_000],
            ["failure", "because"],
          ]),
        );
    }
    expect(types).toContain("REFUSE");
  }
});

test("a configuration of another length than announced is refused", async () => {
  const peer = await RawPeer.connect(lab.socketDir);
  peer.send(callFrame({ verb: "STATUS" }));
  for (let frame = await peer.next(); frame !== undefined && frame.type !== "GO"; frame = await peer.next());
  peer.send(encodeFrame("CONFIG", [["config", " ".repeat(600_000)]]));
  expect(refusalOf(await peer.rest())).toContain("600000");
});

test("results that are too long, as they are or with their indents, fail the ADD, which is undone", async () => {
  const long = (count: number): string =>
    JSON.stringify({ cniVersion: "1.0.0", dns: { search: Array.from({ length: count }, () => "a") } });
  for (const [count, why] of [
    [60_000, "Cannot hand over a result of"],
    [100_000, "it may have 262144 bytes"],
  ] as const) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(callFrame({ container_id: "long" }));
    const frames = await obey(peer, Number.POSITIVE_INFINITY, { result: long(count) });
    const finish = frames.find(({ type }) => type === "FINISH");
    expect(finish === undefined ? "" : Buffer.from(bytesField(finish, "output") ?? []).toString()).toContain(why);
    expect(frames.filter(({ type }) => type === "RUN").length).toBe(2);
  }
});
