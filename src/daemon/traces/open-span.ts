import { firstChars } from "../../base/short-text.ts";
import type { Span, SpanAttributes } from "./span.ts";

/** The log and `levee why` have the whole reason. */
const failureCharsMax = 512;

/** A part of a call that is under way. */
export class OpenSpan {
  readonly spanId: string;
  readonly #name: string;
  readonly #startMs: number;
  readonly #nowMs: () => number;
  #endMs: number | undefined;
  #attributes: SpanAttributes = {};
  #failure: string | undefined;

  constructor(name: string, spanId: string, time: { readonly startMs: number; readonly nowMs: () => number }) {
    this.#name = name;
    this.spanId = spanId;
    this.#startMs = time.startMs;
    this.#nowMs = time.nowMs;
  }

  /** Only the first end counts. */
  end(failure?: string): void {
    if (this.#endMs !== undefined) return;
    this.#endMs = Math.max(this.#nowMs(), this.#startMs);
    if (failure !== undefined) this.fail(failure);
  }

  /** Adds attributes, also after the end. */
  describe(attributes: SpanAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** Says why it failed, also after the end. */
  fail(reason: string): void {
    this.#failure = shortFailure(reason);
  }

  /** One that is still open has no length. */
  finished(): Omit<Span, "traceId" | "traceState" | "parentSpanId"> {
    return {
      spanId: this.spanId,
      name: this.#name,
      kind: "internal",
      startMs: this.#startMs,
      endMs: this.#endMs ?? this.#startMs,
      attributes: this.#attributes,
      failure: this.#failure,
    };
  }
}

export function shortFailure(reason: string): string {
  return firstChars(reason, failureCharsMax);
}
