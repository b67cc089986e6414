import { expect, test } from "bun:test";
import { systemClock } from "../base/clock.ts";
import { Permits } from "./permits.ts";

const never = new AbortController().signal;

function permits(limits: Partial<{ ceiling: number; waitingMax: number; waitMsMax: number }> = {}): Permits {
  return new Permits(systemClock, { what: "an attachment", ceiling: 2, waitingMax: 10, waitMsMax: 5_000, ...limits });
}

test("take runs as many as the ceiling and queues the rest in order", async () => {
  const gate = permits();
  const order: number[] = [];
  const first = await gate.take(never);
  await gate.take(never);
  const third = gate.take(never).then((permit) => {
    order.push(3);
    return permit;
  });
  void gate.take(never).then(() => order.push(4));
  expect(gate.running).toBe(2);
  expect(gate.waiting).toBe(2);
  first[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  await Promise.resolve();
  await Promise.resolve();
  expect(order).toEqual([3, 4]);
  expect(gate.running).toBe(2);
});

test("take refuses beyond the queue's length", async () => {
  const gate = permits({ ceiling: 1, waitingMax: 1 });
  await gate.take(never);
  void gate.take(never).catch(() => undefined);
  expect(gate.take(never)).rejects.toMatchObject({ code: "try-later", cniCode: 11 });
});

test("take gives up after its time, and the slot is not lost", async () => {
  const gate = permits({ ceiling: 1, waitMsMax: 20 });
  const first = await gate.take(never);
  const late = await gate.take(never).catch((error: unknown) => error);
  expect(late).toMatchObject({ code: "try-later" });
  expect(gate.waiting).toBe(0);
  first[Symbol.dispose]();
  expect(gate.running).toBe(0);
});

test("a caller that leaves the queue costs nothing", async () => {
  const gate = permits({ ceiling: 1 });
  const first = await gate.take(never);
  const leaving = new AbortController();
  const left = gate.take(leaving.signal);
  const stays = gate.take(never);
  leaving.abort(new Error("left"));
  expect(left).rejects.toThrow("left");
  first[Symbol.dispose]();
  (await stays)[Symbol.dispose]();
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});

test("a permit disposed twice frees one slot", async () => {
  const gate = permits({ ceiling: 1 });
  const first = await gate.take(never);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(gate.running).toBe(0);
});

test("no slot is ever lost over a thousand random takes, leaves and releases", async () => {
  const gate = permits({ ceiling: 3, waitingMax: 50 });
  const held: Disposable[] = [];
  const leavers: AbortController[] = [];
  for (let turn = 0; turn < 1_000; turn += 1) {
    const roll = Math.random();
    if (roll < 0.5) {
      const leaving = new AbortController();
      leavers.push(leaving);
      void gate.take(leaving.signal).then(
        (permit) => held.push(permit),
        () => undefined,
      );
    } else if (roll < 0.7) leavers.splice(Math.floor(Math.random() * leavers.length), 1)[0]?.abort(new Error("left"));
    else held.shift()?.[Symbol.dispose]();
    await Promise.resolve();
    expect(gate.running).toBeLessThanOrEqual(3);
  }
  for (const leaving of leavers) leaving.abort(new Error("end"));
  await new Promise((resolve) => setTimeout(resolve, 1));
  while (held.length > 0) held.shift()?.[Symbol.dispose]();
  expect([gate.running, gate.waiting]).toEqual([0, 0]);
});
