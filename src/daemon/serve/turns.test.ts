import { expect, test } from "bun:test";
import type { ContainerId } from "../../base/brand.ts";
import { LeveeError } from "../../base/errors.ts";
import { Turns, type Holder } from "./turns.ts";

const one = "one" as ContainerId;
const two = "two" as ContainerId;
const never = new AbortController().signal;
const add: Holder = { verb: "ADD", cancel: () => undefined };
const del: Holder = { verb: "DEL", cancel: () => undefined };

test("take gives one container to one operation at a time, in order", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const first = await turns.take(one, add, never);
  const second = turns.take(one, del, never).then((turn) => {
    order.push("second");
    return turn;
  });
  const third = turns.take(one, del, never).then(() => order.push("third"));
  await Promise.resolve();
  expect(order).toEqual([]);
  first[Symbol.dispose]();
  (await second)[Symbol.dispose]();
  await third;
  expect(order).toEqual(["second", "third"]);
});

test("take lets different containers run in parallel", async () => {
  const turns = new Turns();
  await turns.take(one, add, never);
  await turns.take(two, add, never);
});

test("takeAlone waits until nothing runs or waits, and others overtake it meanwhile", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const first = await turns.take(one, add, never);
  const alone = turns.takeAlone({ verb: "GC", cancel: () => undefined }, never).then(() => order.push("gc"));
  const second = await turns.take(two, add, never);
  const third = turns.take(two, del, never).then((turn) => {
    order.push("third");
    return turn;
  });
  first[Symbol.dispose]();
  second[Symbol.dispose]();
  (await third)[Symbol.dispose]();
  await alone;
  expect(order).toEqual(["third", "gc"]);
});

test("takeAlone is cancelled by the next operation, which begins when the turn is disposed", async () => {
  const turns = new Turns();
  const order: string[] = [];
  const alone = await turns.takeAlone({ verb: "GC", cancel: ({ message }) => order.push(message) }, never);
  expect(turns.isBusy(one)).toBe(true);
  const next = turns.take(one, add, never).then(() => order.push("next"));
  const other = turns.takeAlone({ verb: "GC", cancel: () => undefined }, never).then(() => order.push("gc"));
  await Promise.resolve();
  expect(order).toEqual(["Cannot go on alone as another operation has come"]);
  alone[Symbol.dispose]();
  await next;
  expect(order.slice(1)).toEqual(["next"]);
  void other;
});

test("take rejects when its signal is aborted, and lets the next one in", async () => {
  const turns = new Turns();
  const first = await turns.take(one, add, never);
  const leaving = new AbortController();
  const gone = turns.take(one, add, leaving.signal);
  const stays = turns.take(one, del, never);
  leaving.abort(new Error("left"));
  expect(gone).rejects.toThrow("left");
  first[Symbol.dispose]();
  await stays;
});

test("an aborted takeAlone is forgotten", async () => {
  const turns = new Turns();
  await turns.take(one, add, never);
  const leaving = new AbortController();
  const gone = turns.takeAlone({ verb: "GC", cancel: () => undefined }, leaving.signal);
  const other = turns.take(two, add, never);
  leaving.abort(new Error("gave up"));
  expect(gone).rejects.toThrow("gave up");
  await other;
});

test("cancelAdd asks a running and a waiting ADD to stop, and no DEL", async () => {
  const turns = new Turns();
  const asked: string[] = [];
  const holder = (verb: string, name: string): Holder => ({
    verb,
    cancel: (reason) => {
      expect(reason).toBeInstanceOf(LeveeError);
      asked.push(name);
    },
  });
  await turns.take(one, holder("ADD", "running"), never);
  void turns.take(one, holder("ADD", "waiting"), never);
  void turns.take(one, holder("DEL", "delete"), never);
  await turns.take(two, holder("ADD", "other"), never);
  turns.cancelAdd(one);
  expect(asked).toEqual(["running", "waiting"]);
});

test("cancelAdd reaches an ADD that is only announced, until the announcement is disposed", () => {
  const turns = new Turns();
  let asked = 0;
  const announced = turns.announce(one, { verb: "ADD", cancel: () => (asked += 1) });
  turns.cancelAdd(two);
  expect(asked).toBe(0);
  turns.cancelAdd(one);
  announced[Symbol.dispose]();
  turns.cancelAdd(one);
  expect(asked).toBe(1);
});

test("a turn disposed twice frees the container once", async () => {
  const turns = new Turns();
  const first = await turns.take(one, add, never);
  first[Symbol.dispose]();
  await turns.take(one, add, never);
  first[Symbol.dispose]();
  let granted = false;
  void turns.take(one, add, never).then(() => (granted = true));
  await Promise.resolve();
  await Promise.resolve();
  expect(granted).toBe(false);
});
