import { expect, test } from "bun:test";
import { Waiters } from "./waiters.ts";

const anything = (): boolean => true;

test("Waiters keep waiting until the wanted one is served", async () => {
  const waiters = new Waiters<string>();
  const waiting = waiters.wait((value) => value === "new", new AbortController().signal);
  waiters.serve("old");
  expect(waiters.size).toBe(1);
  waiters.serve("new");
  expect(await waiting).toBe("new");
  expect(waiters.size).toBe(0);
});

test("Waiters serve every caller that waits for a value, and no other", async () => {
  const waiters = new Waiters<string>();
  const { signal } = new AbortController();
  const served = [waiters.wait((value) => value === "a", signal), waiters.wait((value) => value === "a", signal)];
  void waiters.wait((value) => value === "b", signal);
  waiters.serve("a");
  expect(await Promise.all(served)).toEqual(["a", "a"]);
  expect(waiters.size).toBe(1);
});

test("Waiters forget a caller that has given up", async () => {
  const waiters = new Waiters<string>();
  const controller = new AbortController();
  const waiting = waiters.wait(anything, controller.signal).catch((thrown: unknown) => thrown);
  const reason = new Error("enough");
  controller.abort(reason);
  expect(await waiting).toBe(reason);
  expect(waiters.size).toBe(0);
  waiters.serve("a");
});

test("Waiters reject all at the end", async () => {
  const waiters = new Waiters<string>();
  const { signal } = new AbortController();
  const waiting = [1, 2].map(() => waiters.wait(anything, signal).catch((thrown: unknown) => thrown));
  const reason = new Error("closed");
  waiters.rejectAll(reason);
  expect(await Promise.all(waiting)).toEqual([reason, reason]);
  expect(waiters.size).toBe(0);
});
