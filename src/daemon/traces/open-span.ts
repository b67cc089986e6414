import { firstChars } from "../../base/short-text.ts";
import type { Span, SpanAttributes } from "./span.ts";

/** The log and `levee why` have the whole reason. */
const failureCharsMax = 512;

/** Tells the time of a call: milliseconds since 1970 that never go back. */
interface SpanTime {
  nowMs(): number;
}

/** Shared, because each call in line has spans without any. */
const noAttributes: SpanAttributes = {};

/** A part of a call that is under way. */
export class OpenSpan {
  readonly spanId: string;
  readonly #name: string;
  readonly #startMs: number;
  readonly #time: SpanTime;
  #endMs: number | undefined;
  #attributes = noAttributes;
  #failure: string | undefined;

  constructor(name: string, spanId: string, time: SpanTime, startMs: number) {
    this.#name = name;
    this.spanId = spanId;
    this.#time = time;
    this.#startMs = startMs;
  }

  /** Only the first end counts. */
  end(failure?: string): void {
    if (this.#endMs !== undefined) return;
    this.#endMs = Math.max(this.#time.nowMs(), this.#startMs);
    if (failure !== undefined) this.fail(failure);
  }

  /** Adds attributes, also after the end. */
  describe(attributes: SpanAttributes): void {
    this.#attributes = this.#attributes === noAttributes ? attributes : { ...this.#attributes, ...attributes };
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
