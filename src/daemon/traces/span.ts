/** A finished span. Times are milliseconds since 1970, with fractions. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  /** A call is a request of the runtime; everything else is a part of it. */
  readonly kind: "server" | "internal";
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: SpanAttributes;
  /** Undefined when it went well. */
  readonly failure: string | undefined;
}

/** Undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
