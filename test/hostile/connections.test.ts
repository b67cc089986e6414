import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { numberKnobs } from "../../src/config/knobs.ts";
import type { AttachmentsAnswer, NodeAnswer } from "../../src/wire/node-view.ts";
import { encodeFrame, textField } from "../../src/wire/frame.ts";
import { RawPeer } from "../skew/raw-peer.ts";
import { lab, pid, withAttackedDaemon } from "./attacked-daemon.ts";
import { callFields, callFrame } from "./call-frame.ts";
import { obey, warmUp } from "./obedient-hand.ts";

setDefaultTimeout(60_000);

withAttackedDaemon({ heartbeatMs: 500, undoRetryMs: 100 });

function connectMany(count: number): Promise<readonly RawPeer[]> {
  return Promise.all(Array.from({ length: count }, () => RawPeer.connect(lab.socketDir)));
}

test("two thousand peers that say nothing and go away cost nothing", async () => {
  for (let round = 0; round < 10; round += 1) {
    const peers = await connectMany(200);
    for (const [index, peer] of peers.entries()) {
      if (index % 2 === 0) peer.cut();
      else peer.end();
    }
  }
});

test("more peers than there is room for are told so, and those who are in are served", async () => {
  const { waitingMax, attachCeiling, detachCeiling } = numberKnobs;
  const room = waitingMax.default + attachCeiling.default + detachCeiling.default + 64;
  const peers: RawPeer[] = [];
  while (peers.length < room) peers.push(...(await connectMany(Math.min(100, room - peers.length))));
  const last = await RawPeer.connect(lab.socketDir);
  const refusal = await last.next();
  expect(refusal?.type).toBe("REFUSE");
  expect(refusal === undefined ? "" : textField(refusal, "message")).toContain(`${room} are open already`);
  peers[0]?.send(
    encodeFrame("ASK", [
      ["version_min", 1],
      ["version_max", 1],
      ["question", '{"ask":"node"}'],
    ]),
  );
  expect((await peers[0]?.next())?.type).toBe("ANSWER");
  for (const peer of peers) peer.cut();
});

test("a call cut at each of its bytes is no call", async () => {
  const call = callFrame();
  for (let size = 0; size < call.length; size += 1) {
    const peer = await RawPeer.connect(lab.socketDir);
    peer.send(call.subarray(0, size));
    peer.end();
    expect({ size, frames: await peer.rest() }).toEqual({ size, frames: [] });
  }
});

test("peers that keep silent or send a byte now and then are cut off in time, and shims that keep their configuration too", async () => {
  const started = performance.now();
  // As many as there are slots for ADD after a start: each holds one until it is refused.
  const mute = await connectMany(2);
  for (const [index, peer] of mute.entries()) peer.send(callFrame({ container_id: `mute-${index}` }));
  await lab.until(
    "the slots are taken",
    async () => (await lab.ask<NodeAnswer>({ ask: "node" })).running === 2 || undefined,
  );
  const silent = await connectMany(20);
  const slow = await connectMany(20);
  const call = callFrame();
  let at = 0;
  const timer = setInterval(() => {
    for (const peer of slow) peer.send(call.subarray(at, at + 1));
    at += 1;
  }, 100);
  try {
    for (const peer of [...silent, ...slow]) expect(await peer.rest()).toEqual([]);
    expect(performance.now() - started).toBeLessThan(7_500);
    expect(performance.now() - started).toBeGreaterThan(4_000);
    for (const peer of mute)
      expect((await peer.rest()).map(({ type }) => type)).toEqual(["WELCOME", "GO", "STAT", "REFUSE"]);
  } finally {
    clearInterval(timer);
  }
});

test("peers that were refused and stay, and peers that do not listen, are cut off", async () => {
  const before = readdirSync(`/proc/${pid}/fd`).length;
  const peers = await connectMany(50);
  for (const [index, peer] of peers.entries()) {
    peer.pause();
    peer.send(
      index % 2 === 0
        ? Buffer.from([0, 0, 0, 0])
        : encodeFrame("ASK", [
            ["version_min", 1],
            ["version_max", 1],
            ["question", '{"ask":"node"}'],
          ]),
    );
  }
  await lab.until(
    "their descriptors are closed",
    () => Promise.resolve(readdirSync(`/proc/${pid}/fd`).length <= before || undefined),
    4_000,
  );
  for (const peer of peers) peer.cut();
});

test("a shim that takes its answer and never acknowledges it is cut off when its budget is over", async () => {
  // A container that was deleted already is answered without any order.
  await warmUp(lab);
  expect(await framesOfDel("warm-up", 500)).toEqual(["WELCOME", "FINISH"]);
});

test("a shim that deletes an unknown container and keeps its configuration is cut off when its budget is over", async () => {
  expect(await framesOfDel("never-heard-of", 500)).toEqual(["WELCOME", "GO"]);
});

/** What the daemon says to a DEL that answers nothing, until it hangs up, which it must do in time. */
async function framesOfDel(containerId: string, budgetMs: number): Promise<readonly string[]> {
  const peer = await RawPeer.connect(lab.socketDir);
  const started = performance.now();
  peer.send(callFrame({ verb: "DEL", container_id: containerId, budget_ms: budgetMs }));
  const types = (await peer.rest()).map(({ type }) => type);
  expect(performance.now() - started).toBeLessThan(5_000);
  return types;
}

test("a thousand calls that leave while they wait leave nothing", async () => {
  for (let round = 0; round < 10; round += 1) {
    const peers = await connectMany(100);
    for (const [index, peer] of peers.entries()) {
      peer.send(
        callFrame({
          container_id: `gone-${index % 7}`,
          cni_args: index % 3 === 0 ? "K8S_POD_NAMESPACE=default;K8S_POD_NAME=never" : "",
        }),
      );
    }
    await peers[99]?.next();
    for (const peer of peers) peer.cut();
  }
});

test("shims that vanish after each of their frames are cleaned up after, whatever they had attached", async () => {
  const resident = await RawPeer.connect(lab.socketDir);
  resident.send(encodeFrame("RESIDENT", callFields()));
  const served = obey(resident);
  for (let frames = 1; frames <= 6; frames += 1) {
    for (const manner of ["cut", "end"] as const) {
      const shim = await RawPeer.connect(lab.socketDir);
      shim.send(callFrame({ container_id: `vanish-${frames}-${manner}` }));
      await obey(shim, frames);
      shim[manner]();
    }
  }
  await lab.until("nothing is attached", async () => {
    const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
    return attachments.every(({ phase }) => phase === "attached") || undefined;
  });
  resident.cut();
  await served;
  await deleteAll();
});

/** Deletes what is attached, as a runtime would. */
async function deleteAll(): Promise<void> {
  const { attachments } = await lab.ask<AttachmentsAnswer>({ ask: "attachments" });
  for (const { containerId } of attachments) {
    const shim = await RawPeer.connect(lab.socketDir);
    shim.send(callFrame({ verb: "DEL", container_id: containerId }));
    await obey(shim);
  }
}
