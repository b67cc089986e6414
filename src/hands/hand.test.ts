import { expect, test } from "bun:test";
import type { NetnsPath, PluginType } from "../base/brand.ts";
import { systemClock, type Clock } from "../base/clock.ts";
import { decodeFrame, encodeFrame, numberField, textField, type Frame, type OutgoingField } from "../wire/frame.ts";
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
  const { hand } = connection({ version: 2, isResident: true, clock });
  const running = hand.run(order, 1);
  // The resident hand's runs wait for a place, also when one is free.
  await Promise.resolve();
  fire();
  expect(running).rejects.toMatchObject({ code: "hand-lost" });
});

/** A connection that keeps all sent frames, and can be closed. */
function connection(
  facts: { version: number; isResident: boolean; clock?: Clock } = { version: 2, isResident: false },
): {
  hand: Hand;
  sent: Frame[];
  cut: () => void;
  settle: (fields: readonly OutgoingField[]) => void;
  progress: (fields: readonly OutgoingField[]) => void;
} {
  const gone = new AbortController();
  const sent: Frame[] = [];
  const channel = {
    send: (frame: Uint8Array) => void sent.push(decodeFrame(frame.subarray(4))),
    closed: gone.signal,
    isClosed: false,
    close: () => {
      channel.isClosed = true;
      hand.left();
    },
  };
  const hand: Hand = new Hand(
    channel,
    { software: "shim", pid: 7, pidStart: 8, pidNamespace: 9 },
    { clock: systemClock, cniPath: "", ...facts },
  );
  return {
    hand,
    sent,
    cut: channel.close,
    settle: (fields) => hand.settle(decodeFrame(encodeFrame("OUTCOME", fields).subarray(4))),
    progress: (fields) => hand.progressed(decodeFrame(encodeFrame("PROGRESS", fields).subarray(4))),
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

test("settle refuses an outcome without an order", () => {
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

test("progressed calls back the run of that step, if that run asked for it", async () => {
  const { hand, settle, progress } = connection({ version: 3, isResident: false });
  const told: number[] = [];
  const running = hand.run(order, 1, (idleMs) => told.push(idleMs));
  void hand.run(order, 2).catch(() => undefined);
  for (const [step, idleMs] of [
    [1, 0],
    [2, 7],
    [1, 1_000],
  ] as const)
    progress([
      ["step", step],
      ["idle_ms", idleMs],
    ]);
  settle([
    ["step", 1],
    ["exit_code", 0],
  ]);
  await running;
  expect(told).toEqual([0, 1_000]);
  expect(() =>
    progress([
      ["step", 1],
      ["idle_ms", 0],
    ]),
  ).toThrow("its step is 1");
});

test("progressed refuses what an older hand must not send", () => {
  const { hand, progress } = connection({ version: 2, isResident: false });
  void hand.run(order, 1).catch(() => undefined);
  expect(() =>
    progress([
      ["step", 1],
      ["idle_ms", 0],
    ]),
  ).toThrow("it needs protocol 3");
});

const resident = { version: 2, isResident: true };
const none = "" as const;

test("supports goes by the agreed version, and by whose hand it is", () => {
  const supported = (facts: { version: number; isResident: boolean }): readonly boolean[] =>
    (["links", "list", "scratch-netns", "progress", "remove"] as const).map((feature) =>
      connection(facts).hand.supports(feature),
    );
  expect(supported({ version: 5, isResident: true })).toEqual([true, true, true, true, true]);
  expect(supported({ version: 5, isResident: false })).toEqual([true, false, false, true, false]);
  expect(supported({ version: 4, isResident: true })).toEqual([true, true, true, true, false]);
  expect(supported({ version: 3, isResident: false })).toEqual([true, false, false, true, false]);
  expect(supported(resident)).toEqual([true, true, true, false, false]);
  expect(supported({ version: 2, isResident: false })).toEqual([true, false, false, false, false]);
  expect(supported({ version: 1, isResident: true })).toEqual([false, false, false, false, false]);
});

test("a hand of version 1 never gets an order that it does not understand", () => {
  const { hand, sent } = connection({ version: 1, isResident: true });
  const expected = { code: "protocol-violated", message: expect.stringContaining("it needs protocol 2") };
  expect(hand.links(none)).rejects.toMatchObject(expected);
  expect(hand.list("/var/lib/cni/results")).rejects.toMatchObject(expected);
  expect(hand.run({ ...order, scratchNetns: true })).rejects.toMatchObject(expected);
  const file = { path: "/a/b", changedWallMs: 0, lock: "/a/lock" };
  expect(hand.remove(file)).rejects.toThrow("it needs protocol 5");
  expect(sent).toEqual([]);
});

test("links gives names, nothing for a path that leads nowhere, and an error when it cannot be seen", async () => {
  const { hand, sent, settle } = connection();
  const netns = "/run/netns/x" as NetnsPath;
  const [seen, gone, hidden] = [hand.links(netns), hand.links(netns), hand.links(netns)];
  settle([
    ["step", 1_000_000],
    ["link", "lo"],
    ["link", "net1"],
    ["truncated", 0],
  ]);
  settle([
    ["step", 1_000_001],
    ["failure", "links"],
    ["errno", 2],
  ]);
  settle([
    ["step", 1_000_002],
    ["failure", "links"],
    ["errno", 13],
    ["message", "Cannot open it"],
  ]);
  expect(await seen).toEqual({ names: ["lo", "net1"], isTruncated: false, users: undefined, addresses: [] });
  expect(await gone).toBeUndefined();
  expect(hidden).rejects.toMatchObject({ code: "io-failed", message: "Cannot open it" });
  expect(sent.map((frame) => [frame.type, textField(frame, "netns")])).toEqual([
    ["LINKS", netns],
    ["LINKS", netns],
    ["LINKS", netns],
  ]);
});

test("remove says which file, as it was seen, under whose lock, and throws when it stays", async () => {
  const { hand, sent, settle } = connection({ version: 5, isResident: true });
  const file = {
    path: "/var/lib/cni/networks/lan/10.0.0.7",
    changedWallMs: 5_000,
    lock: "/var/lib/cni/networks/lan/lock",
  };
  const [gone, kept] = [hand.remove(file), hand.remove(file)];
  settle([["step", 1_000_000]]);
  settle([
    ["step", 1_000_001],
    ["failure", "remove"],
    ["errno", 116],
    ["message", "Cannot remove it"],
  ]);
  expect(await gone).toBeUndefined();
  expect(kept).rejects.toMatchObject({ code: "io-failed", message: "Cannot remove it" });
  const [order1] = sent;
  if (order1 === undefined) throw new Error("Nothing was sent");
  expect({
    type: order1.type,
    path: textField(order1, "path"),
    changedWallMs: numberField(order1, "changed_ms"),
    lock: textField(order1, "lock"),
  }).toEqual({ type: "REMOVE", ...file });
});

test("list gives one page of a folder, and asks for the next after a name", async () => {
  const { hand, sent, settle } = connection(resident);
  const page = hand.list("/var/lib/cni/networks/lan", "10.0.0.7");
  const head = Buffer.from([1, 0x88, 0x13, 0, 0, 0, 0, 0, 0, 8]);
  settle([
    ["step", 1_000_000],
    ["entry", Buffer.concat([head, Buffer.from("10.0.0.9abc")])],
    ["entry", Buffer.concat([Buffer.from([3]), Buffer.alloc(8), Buffer.from([1]), Buffer.from("d")])],
    ["truncated", 1],
    ["shared", 1],
  ]);
  expect(await page).toEqual({
    entries: [
      { name: "10.0.0.9", kind: "file", changedWallMs: 5_000, content: Buffer.from("abc") },
      { name: "d", kind: "folder", changedWallMs: 0, content: undefined },
    ],
    isTruncated: true,
    isShared: true,
  });
  expect(sent.map((frame) => [textField(frame, "path"), textField(frame, "after")])).toEqual([
    ["/var/lib/cni/networks/lan", "10.0.0.7"],
  ]);
});

test.each([
  [Buffer.alloc(9)],
  [Buffer.from([9, ...Array<number>(9).fill(0)])],
  [Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 0, 5, 1])],
])("list refuses an entry that is not one: %p", (entry) => {
  const { hand, settle } = connection(resident);
  void hand.list("/x").catch(() => undefined);
  expect(() =>
    settle([
      ["step", 1_000_000],
      ["entry", entry],
    ]),
  ).toThrow("Cannot read an entry field");
});

test("run asks for a scratch namespace only when told to", async () => {
  const { hand, sent } = connection(resident);
  void hand.run({ ...order, scratchNetns: true }).catch(() => undefined);
  void hand.run(order).catch(() => undefined);
  await Promise.resolve();
  expect(sent.map((frame) => numberField(frame, "scratch_netns"))).toEqual([1, undefined]);
});

test("run lets the resident hand have eight runs at a time; the others wait in their order", async () => {
  const { hand, sent, settle } = connection(resident);
  const steps = Array.from({ length: 10 }, (_, index) => index + 1);
  const ended: number[] = [];
  const runs = steps.map((step) => hand.run(order, step).then(() => ended.push(step)));
  const started = (): readonly unknown[] => sent.map((frame) => numberField(frame, "step"));
  await settled();
  expect(started()).toEqual(steps.slice(0, 8));
  for (const [step, more] of [
    [5, 9],
    [2, 10],
  ]) {
    settle([
      ["step", step],
      ["exit_code", 0],
    ]);
    await settled();
    expect(started().at(-1)).toBe(more);
  }
  for (const step of steps.filter((one) => one !== 5 && one !== 2))
    settle([
      ["step", step],
      ["exit_code", 0],
    ]);
  await Promise.all(runs);
  expect(ended.toSorted((left, right) => left - right)).toEqual(steps);
});

test("run and lanes reject for those that wait when the resident hand is lost", async () => {
  const { hand, cut } = connection(resident);
  const runs = Array.from({ length: 9 }, (_, index) => hand.run(order, index + 1).catch((thrown: unknown) => thrown));
  const lanes = Array.from({ length: 9 }, () => hand.places?.lanes.take().catch((thrown: unknown) => thrown));
  await settled();
  cut();
  for (const run of runs) expect(await run).toMatchObject({ code: "hand-lost" });
  expect(await lanes[8]).toMatchObject({ code: "hand-lost" });
});

test("a hand that has too much to do is asked again later, whatever the order was", async () => {
  const { hand, settle } = connection(resident);
  const looks = [hand.stat(["/run/netns/x"]), hand.links(none), hand.list("/var")];
  for (const step of [1_000_000, 1_000_001, 1_000_002])
    settle([
      ["step", step],
      ["failure", "refused"],
      ["errno", 11],
    ]);
  for (const look of looks) expect(await look.catch((thrown: unknown) => thrown)).toMatchObject({ code: "try-later" });
});

/** Lets everything happen that waits for nothing else. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
