import type { Clock } from "../../base/clock.ts";
import type { PluginAttendant } from "../../hands/plugin-attendant.ts";
import type { RunOrder } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";
import { OpenSpan, shortFailure } from "./open-span.ts";
import { askedOf, pluginSpanName, usedBy } from "./plugin-attributes.ts";
import type { Span, SpanAttributes } from "./span.ts";
import { newSpanId, traceParentOf, type TraceContext } from "./trace-context.ts";

/** An ADD on four networks has about thirty. A call that tries again and again must not fill the memory. */
const partsMax = 100;

/** Where a call's trace comes from. */
export interface TraceOrigin {
  readonly traceId: string;
  /** The runtime's own span; empty if it gave none. */
  readonly parentSpanId: string;
  readonly traceState: string;
  /** Whether the trace is sent even if the call succeeds. */
  readonly isSampled: boolean;
}

/** What all traces share. */
export interface TraceHouse {
  readonly clock: Clock;
  /** Told which span belongs to the outcome of a plugin, because others know more about that run. */
  readonly onRan: (outcome: Outcome, span: OpenSpan) => void;
}

/** The spans of one call, from its first frame on. Every call in line has one, so it is small. */
export class CallTrace implements PluginAttendant, TraceContext {
  readonly spanId: string;
  readonly #origin: TraceOrigin;
  readonly #house: TraceHouse;
  readonly #startMs: number;
  /** What to add to the monotonic clock for the time since 1970. */
  readonly #offsetMs: number;
  readonly #parts: OpenSpan[] = [];
  #partsOmitted = 0;
  #plugin: OpenSpan | undefined;
  #waiting: OpenSpan | undefined;

  constructor(origin: TraceOrigin, house: TraceHouse) {
    const { clock } = house;
    this.#origin = origin;
    this.#house = house;
    this.spanId = newSpanId(clock);
    this.#offsetMs = clock.wallMs() - clock.monotonicMs();
    this.#startMs = this.nowMs();
  }

  get traceId(): string {
    return this.#origin.traceId;
  }

  get isSampled(): boolean {
    return this.#origin.isSampled;
  }

  /** Milliseconds since 1970 that never go back during the call. */
  nowMs(): number {
    return this.#offsetMs + this.#house.clock.monotonicMs();
  }

  /** The call is in line. */
  waits(detail: string): void {
    this.#waiting?.end();
    this.#waiting = this.part("wait in line");
    this.#waiting.describe({ "levee.behind": detail });
  }

  /** It is no longer in line; `failure` says why it was sent away. */
  waited(failure?: string): void {
    this.#waiting?.end(failure);
    this.#waiting = undefined;
  }

  /** A part of the call begins, or began at that time. */
  part(name: string, startMs: number = this.nowMs()): OpenSpan {
    const part = new OpenSpan(name, newSpanId(this.#house.clock), this, startMs);
    if (this.#parts.length < partsMax) this.#parts.push(part);
    else this.#partsOmitted += 1;
    return part;
  }

  begin(order: RunOrder): RunOrder {
    const span = this.part(pluginSpanName(order));
    span.describe(askedOf(order));
    this.#plugin = span;
    const { traceId, isSampled } = this;
    return { ...order, traceParent: traceParentOf({ traceId, spanId: span.spanId, isSampled }) };
  }

  end(outcome: Outcome): void {
    const span = this.#plugin;
    if (span === undefined) return;
    this.#plugin = undefined;
    span.describe(usedBy(outcome));
    span.end();
    this.#house.onRan(outcome, span);
  }

  /** All spans, the call's own first. Parts that are still open end with the call. */
  spans(name: string, attributes: SpanAttributes, failure: string | undefined): readonly Span[] {
    const { traceId, traceState, parentSpanId } = this.#origin;
    for (const part of this.#parts) part.end(failure);
    const trace = { traceId, traceState };
    const call: Span = {
      ...trace,
      spanId: this.spanId,
      parentSpanId,
      name,
      kind: "server",
      startMs: this.#startMs,
      endMs: this.nowMs(),
      attributes: { ...attributes, "levee.spans_omitted": this.#partsOmitted === 0 ? undefined : this.#partsOmitted },
      failure: failure === undefined ? undefined : shortFailure(failure),
    };
    return [call, ...this.#parts.map((part) => ({ ...trace, parentSpanId: this.spanId, ...part.finished() }))];
  }
}
