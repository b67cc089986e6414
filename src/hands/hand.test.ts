import { expect, test } from "bun:test";
import type { NetnsPath, PluginType } from "../base/brand.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { decodeFrame, encodeFrame, numberField, type Frame, type OutgoingField } from "../wire/frame.ts";
import { Hand } from "./hand.ts";

const order = { plugin: "bridge" as PluginType, env: { CNI_COMMAND: "ADD" }, stdin: "{}", timeoutMs: 1_000 };

test("a hand that does not answer long after the order's limit is cut off", async () => {
  let fire = (): void => undefined;
  const clock: Clock = {
    ...systemClock,
    after: (ms, callback) => {
      expect(ms).toBe(11_000);
      fire = callback;
      return () => undefined;
    },
  };
  const gone = new AbortController();
  const hand = new Hand(
    { send: () => undefined, closed: gone.signal, close: () => gone.abort() },
    { software: "shim", pid: 7, pidStart: 8, pidNamespace: 9 },
    { clock, isResident: true, cniPath: "" },
  );
  const running = hand.run(order, 1);
  fire();
  expect(running).rejects.toMatchObject({ code: "hand-lost" });
});

/** A connection that keeps what is sent, and can be cut. */
function connection(): {
  hand: Hand;
  sent: Frame[];
  cut: () => void;
  settle: (fields: readonly OutgoingField[]) => void;
} {
  const gone = new AbortController();
  const sent: Frame[] = [];
  const channel = {
    send: (frame: Uint8Array) => void sent.push(decodeFrame(frame.subarray(4))),
    closed: gone.signal,
    close: () => gone.abort(),
  };
  const hand = new Hand(
    channel,
    { software: "shim", pid: 7, pidStart: 8, pidNamespace: 9 },
    { clock: systemClock, isResident: false, cniPath: "" },
  );
  return {
    hand,
    sent,
    cut: () => gone.abort(),
    settle: (fields) => hand.settle(decodeFrame(encodeFrame("OUTCOME", fields).subarray(4))),
  };
}

test("run resolves with the outcome of its own step", async () => {
  const { hand, settle } = connection();
  const first = hand.run(order, 1);
  const second = hand.run(order, 2);
  settle([
    ["step", 2],
    ["exit_code", 2],
  ]);
  settle([
    ["step", 1],
    ["exit_code", 1],
  ]);
  expect([(await first).exitCode, (await second).exitCode]).toEqual([1, 2]);
  expect(hand.busy).toBe(0);
});

test("orders that are no step of a plan get numbers a plan never has", () => {
  const { hand, sent } = connection();
  void hand.run(order).catch(() => undefined);
  void hand.routes("/run/netns/x" as NetnsPath, []).catch(() => undefined);
  expect(sent.map((frame) => numberField(frame, "step"))).toEqual([1_000_000, 1_000_001]);
});

test("every order under way fails when the hand is lost, and so does every later one", async () => {
  const { hand, cut } = connection();
  const running = hand.run(order, 1);
  cut();
  expect(running).rejects.toMatchObject({ code: "hand-lost" });
  expect(hand.run(order, 2)).rejects.toMatchObject({ code: "hand-lost" });
  expect(hand.isLost).toBe(true);
});

test("settle refuses an outcome nobody asked for", () => {
  const { settle } = connection();
  expect(() => settle([["step", 3]])).toThrow("its step is 3");
});

test("kill is sent only for a step that is under way", () => {
  const { hand, sent } = connection();
  hand.kill(1);
  void hand.run(order, 1).catch(() => undefined);
  hand.kill(1);
  expect(sent.map((frame) => frame.type)).toEqual(["RUN", "KILL"]);
});

test("reap tells empty, alive and timeout apart", async () => {
  const { hand, settle } = connection();
  const lost = { pid: 1, pidStart: 2, pidNamespace: 9 };
  const empty = hand.reap(lost, 100);
  settle([
    ["step", 1_000_000],
    ["processes", 2],
  ]);
  const alive = hand.reap(lost, 100);
  settle([
    ["step", 1_000_001],
    ["alive", 1],
  ]);
  const late = hand.reap(lost, 100);
  settle([
    ["step", 1_000_002],
    ["failure", "timeout"],
  ]);
  expect([await empty, await alive, await late]).toEqual(["empty", "alive", "timeout"]);
});

test("stat refuses an answer for another number of paths", async () => {
  const { hand, settle } = connection();
  const asked = hand.stat(["/a", "/b"]);
  settle([
    ["step", 1_000_000],
    ["found", Buffer.from([0])],
  ]);
  expect(asked).rejects.toMatchObject({ code: "protocol-violated" });
});

test("settle leaves an order waiting for the end of the connection when its outcome cannot be read", async () => {
  const { hand, settle, cut } = connection();
  const running = hand.run(order, 1);
  expect(() =>
    settle([
      ["step", 1],
      ["failure", "because"],
    ]),
  ).toThrow("unknown failure");
  expect(hand.busy).toBe(1);
  cut();
  expect(running).rejects.toMatchObject({ code: "hand-lost" });
  expect(hand.busy).toBe(0);
});
