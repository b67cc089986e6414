import { describe, expect, test } from "bun:test";
import { systemClock } from "../../base/clock.ts";
import { ManualClock } from "../../kube/manual-clock.fixture.ts";
import { newSpanId, newTraceId, parseTraceParent, traceIdOf, traceParentOf } from "./trace-context.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

describe("parseTraceParent", () => {
  test("reads version 00 and the beginning of a later one", () => {
    expect(parseTraceParent(`00-${traceId}-${spanId}-01`)).toEqual({ traceId, spanId, isSampled: true });
    expect(parseTraceParent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, isSampled: false });
    expect(parseTraceParent(`cc-${traceId}-${spanId}-03-what-ever`)).toEqual({ traceId, spanId, isSampled: true });
  });

  test("gives what traceParentOf prints", () => {
    for (const isSampled of [true, false]) {
      const context = { traceId, spanId, isSampled };
      expect(parseTraceParent(traceParentOf(context))).toEqual(context);
    }
  });

  test.each([
    "",
    "00",
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01-more`,
    `00-${traceId}-${spanId}-01more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${"0".repeat(32)}-${spanId}-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `01-${traceId}-${spanId}-01-a\nb`,
  ])("refuses %j", (text) => {
    expect(parseTraceParent(text)).toBeUndefined();
  });
});

describe("traceIdOf", () => {
  test.each([
    ["6FA459EA-ee8a-3ca4-894e-db77e160355e", "6fa459eaee8a3ca4894edb77e160355e"],
    // A static pod, by the kubelet's hash.
    [traceId, traceId],
    // A container.
    [`${traceId}ffff`, traceId],
  ])("%s is %s", (id, wanted) => {
    expect(traceIdOf(id)).toBe(wanted);
  });

  test.each(["", "1-2-3", "web", "0".repeat(32), "g".repeat(32)])("%j is none", (id) => {
    expect(traceIdOf(id)).toBeUndefined();
  });
});

test("newSpanId and newTraceId are never all zero", () => {
  // Its random bytes are zeros.
  const clock = new ManualClock();
  expect([newSpanId(clock), newTraceId(clock)]).toEqual(["0000000000000001", `${"0".repeat(31)}1`]);
  expect(newTraceId(systemClock)).toMatch(/^[\da-f]{32}$/u);
});
