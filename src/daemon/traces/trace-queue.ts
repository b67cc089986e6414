import type { Span } from "./span.ts";

/** The spans of one call, or a span that came after its call. */
export interface QueuedTrace {
  readonly spans: readonly Span[];
  readonly isFailure: boolean;
}

/** An ADD has about ten spans of half a KiB. So a collector that is away costs the daemon less than 1 MiB. */
const spansMax = 1_500;

/** Traces that wait for the collector, oldest first. When it is full, the oldest success goes, else the oldest failure. */
export class TraceQueue {
  #traces: QueuedTrace[] = [];
  #spans = 0;
  readonly #onDropped: (count: number) => void;

  constructor(onDropped: (count: number) => void) {
    this.#onDropped = onDropped;
  }

  get length(): number {
    return this.#traces.length;
  }

  add(trace: QueuedTrace): void {
    this.#traces.push(trace);
    this.#spans += trace.spans.length;
    this.#shrink();
  }

  /** Removes the oldest traces, up to so many spans, and at least one trace. */
  take(spansWanted: number): readonly QueuedTrace[] {
    let spans = 0;
    const after = this.#traces.findIndex((trace, at) => (spans += trace.spans.length) > spansWanted && at > 0);
    const taken = this.#traces.splice(0, after === -1 ? this.#traces.length : after);
    this.#spans -= spansOf(taken);
    return taken;
  }

  /** The collector did not take them yet. */
  putBack(traces: readonly QueuedTrace[]): void {
    this.#traces = [...traces, ...this.#traces];
    this.#spans += spansOf(traces);
    this.#shrink();
  }

  #shrink(): void {
    let dropped = 0;
    for (; this.#spans > spansMax && this.#traces.length > 0; dropped += 1) {
      const oldestSuccess = this.#traces.findIndex(({ isFailure }) => !isFailure);
      this.#spans -= spansOf(this.#traces.splice(Math.max(oldestSuccess, 0), 1));
    }
    if (dropped > 0) this.#onDropped(dropped);
  }
}

function spansOf(traces: readonly QueuedTrace[]): number {
  return traces.reduce((sum, { spans }) => sum + spans.length, 0);
}
