import { expect, test } from "bun:test";
import type { Span } from "./span.ts";
import { TraceQueue, type QueuedTrace } from "./trace-queue.ts";

function traceOf(name: string, isFailure = false, spans = 10): QueuedTrace {
  return { spans: Array.from({ length: spans }, () => ({ name }) as Span), isFailure };
}

function names(traces: readonly QueuedTrace[]): readonly (string | undefined)[] {
  return traces.map(({ spans }) => spans[0]?.name);
}

test("TraceQueue gives the oldest first, by spans, and at least one trace", () => {
  const queue = new TraceQueue(() => undefined);
  for (const name of ["a", "b", "c", "d"]) queue.add(traceOf(name));
  expect(names(queue.take(25))).toEqual(["a", "b"]);
  expect(names(queue.take(1))).toEqual(["c"]);
  expect(names(queue.take(100))).toEqual(["d"]);
  expect(queue.take(100)).toEqual([]);
});

test("TraceQueue that is full drops the oldest success, and a failure only when there are no others", () => {
  let dropped = 0;
  const queue = new TraceQueue((count) => (dropped += count));
  queue.add(traceOf("failed first", true));
  for (let at = 0; at < 149; at += 1) queue.add(traceOf(`good ${at}`));
  expect(dropped).toBe(0);
  queue.add(traceOf("good last"));
  expect(dropped).toBe(1);
  expect(names(queue.take(20))).toEqual(["failed first", "good 1"]);
  for (let at = 0; at < 200; at += 1) queue.add(traceOf(`failed ${at}`, true));
  expect(names(queue.take(10))).toEqual(["failed 50"]);
  expect(queue.length).toBe(149);
});

test("TraceQueue takes a batch back to its front, within its limit", () => {
  let dropped = 0;
  const queue = new TraceQueue((count) => (dropped += count));
  for (let at = 0; at < 150; at += 1) queue.add(traceOf(`old ${at}`));
  const batch = queue.take(50);
  for (let at = 0; at < 3; at += 1) queue.add(traceOf(`new ${at}`));
  queue.putBack(batch);
  expect(dropped).toBe(3);
  expect(names(queue.take(10))).toEqual(["old 3"]);
});
