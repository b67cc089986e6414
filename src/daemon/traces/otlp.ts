import { version } from "../../base/version.ts";
import { firstChars } from "../../base/short-text.ts";
import type { Span, SpanAttributes } from "./span.ts";

/** The numbers of opentelemetry-proto, whose JSON writes enums as numbers and 64-bit numbers as texts. */
const kindNumbers: Readonly<Record<Span["kind"], number>> = { internal: 1, server: 2 };
const statusError = 2;
/** Names come from people: a namespace has 63 characters at most, a network's text may have any number. */
const textCharsMax = 256;
const listMax = 32;

/** An ExportTraceServiceRequest as JSON. */
export function otlpText(spans: readonly Span[], nodeName: string): string {
  const resource = {
    "service.name": "levee",
    "service.version": version,
    "service.instance.id": nodeName,
    "k8s.node.name": nodeName,
  };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "levee", version }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan(span: Span): object {
  const { traceId, spanId, parentSpanId, traceState, failure } = span;
  return {
    traceId,
    spanId,
    ...(parentSpanId === "" ? {} : { parentSpanId }),
    ...(traceState === "" ? {} : { traceState }),
    name: textOf(span.name),
    kind: kindNumbers[span.kind],
    startTimeUnixNano: nanosOf(span.startMs),
    endTimeUnixNano: nanosOf(span.endMs),
    attributes: attributesOf(span.attributes),
    status: failure === undefined ? {} : { code: statusError, message: failure.toWellFormed() },
  };
}

function attributesOf(attributes: SpanAttributes): readonly object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueOf(value) }],
  );
}

function valueOf(value: Exclude<SpanAttributes[string], undefined>): object {
  if (typeof value === "string") return { stringValue: textOf(value) };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return { intValue: String(Math.round(value)) };
  return { arrayValue: { values: value.slice(0, listMax).map((text) => ({ stringValue: textOf(text) })) } };
}

/** A half of a surrogate pair is no UTF-8, and a collector may refuse the whole batch for it. */
function textOf(text: string): string {
  return firstChars(text, textCharsMax).toWellFormed();
}

/** The microseconds of our time are an exact number; its nanoseconds would not be. */
function nanosOf(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
