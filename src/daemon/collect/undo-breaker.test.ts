import { expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { UndoBreaker } from "./undo-breaker.ts";

function breakerAt(): { breaker: UndoBreaker; pass: (ms: number) => void } {
  let nowMs = 0;
  const breaker = new UndoBreaker({ ...systemClock, monotonicMs: () => nowMs });
  return { breaker, pass: (ms) => (nowMs += ms) };
}

test("admit allows as many as the limit within one minute, over several calls", () => {
  const { breaker, pass } = breakerAt();
  expect(breaker.admit([1, 2, 3], 5)).toEqual([1, 2, 3]);
  pass(30_000);
  expect(breaker.admit([4, 5, 6], 5)).toEqual([4, 5]);
  expect(breaker.admit([6], 5)).toEqual([]);
});

test("admit allows more when a minute has passed since each undo", () => {
  const { breaker, pass } = breakerAt();
  breaker.admit([1, 2, 3, 4, 5], 5);
  pass(59_999);
  expect(breaker.admit([6], 5)).toEqual([]);
  pass(1);
  expect(breaker.admit([6, 7], 5)).toEqual([6, 7]);
});

test("admit allows none when the limit has shrunk below the undos done", () => {
  const { breaker } = breakerAt();
  breaker.admit([1, 2, 3, 4, 5], 5);
  expect(breaker.admit([6], 2)).toEqual([]);
});
