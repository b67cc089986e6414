import { expect, test } from "bun:test";
import { otlpProblems } from "../../../test/lab/otlp-schema.ts";
import { otlpText } from "./otlp.ts";
import type { Span } from "./span.ts";

const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
  parentSpanId: "",
  traceState: "",
  name: "CNI ADD",
  kind: "server",
  startMs: 1_700_000_000_000.125,
  endMs: 1_700_000_000_012.5,
  attributes: { text: "x", list: ["a", "b"], whole: 12, part: 1.6, flag: true, none: undefined },
  failure: undefined,
};

interface Sent {
  readonly resourceSpans: readonly [
    { readonly resource: unknown; readonly scopeSpans: readonly [{ readonly spans: readonly unknown[] }] },
  ];
}

function sent(...spans: readonly Span[]): Sent {
  const body = JSON.parse(otlpText(spans, "node-1")) as Sent;
  expect(otlpProblems(body)).toEqual([]);
  return body;
}

test("otlpText writes IDs as hex, 64-bit numbers as texts and enums as numbers", () => {
  expect(sent(span).resourceSpans[0].scopeSpans[0].spans).toEqual([
    {
      traceId: span.traceId,
      spanId: span.spanId,
      name: "CNI ADD",
      kind: 2,
      startTimeUnixNano: "1700000000000125000",
      endTimeUnixNano: "1700000000012500000",
      attributes: [
        { key: "text", value: { stringValue: "x" } },
        { key: "list", value: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } } },
        { key: "whole", value: { intValue: "12" } },
        { key: "part", value: { intValue: "2" } },
        { key: "flag", value: { boolValue: true } },
      ],
      status: {},
    },
  ]);
  expect(JSON.stringify(sent(span).resourceSpans[0].resource)).toContain(
    '{"key":"k8s.node.name","value":{"stringValue":"node-1"}}',
  );
});

test("otlpText names the parent, the vendor's state and the failure where there are some", () => {
  const failed: Span = {
    ...span,
    kind: "internal",
    parentSpanId: "00000000000000aa",
    traceState: "a=1",
    failure: "no",
  };
  expect(sent(failed).resourceSpans[0].scopeSpans[0].spans[0]).toMatchObject({
    parentSpanId: "00000000000000aa",
    traceState: "a=1",
    kind: 1,
    status: { code: 2, message: "no" },
  });
});

test("otlpText keeps hostile text within bounds and well formed", () => {
  const name = `\ud800${"\u0000\n".repeat(400)}`;
  const list = Array.from({ length: 100 }, () => name);
  const text = otlpText([{ ...span, name, attributes: { list }, failure: "half \udc00" }], "node-1");
  expect(otlpProblems(JSON.parse(text))).toEqual([]);
  expect(text.isWellFormed()).toBe(true);
  expect(text).not.toMatch(/\\ud[89a-f]/u);
  expect(text.length).toBeLessThan(60_000);
});

test("otlpProblems finds what is not of the schema", () => {
  const good = sent(span);
  const withSpan = (change: object): unknown => {
    const body = structuredClone(good) as unknown as { resourceSpans: [{ scopeSpans: [{ spans: object[] }] }] };
    Object.assign(body.resourceSpans[0].scopeSpans[0].spans[0] ?? {}, change);
    return body;
  };
  for (const change of [
    { traceId: "00" },
    { spanId: span.traceId },
    { parentSpanId: "" },
    { kind: "SPAN_KIND_SERVER" },
    { startTimeUnixNano: 1_700_000_000_000_000_000 },
    { endTimeUnixNano: "1700000000000" },
    { status: { code: "2" } },
    { attributes: [{ key: "a", value: { intValue: 1 } }] },
    { attributes: [{ key: "a", value: {} }] },
    { start_time: "x" },
  ])
    expect({ change, found: otlpProblems(withSpan(change)).length }).toEqual({ change, found: 1 });
});
