import type { Clock } from "../../base/clock.ts";
import type { TimelineFacts } from "../record/timeline.ts";
import { OpenSpan } from "./open-span.ts";
import { newSpanId, type TraceContext } from "./trace-context.ts";
import type { TraceExporter } from "./trace-exporter.ts";

/** As many statuses may wait for their turn after a storm. Later ones have no span. */
const expectedMax = 500;

interface StatusNeeds {
  readonly clock: Clock;
  readonly exporter: Pick<TraceExporter, "add">;
}

/** The write of a pod's network-status. It comes after the answer, so its span follows those of the call. */
export class StatusSpans {
  readonly #needs: StatusNeeds;
  /** By container. */
  readonly #expected = new Map<string, TraceContext>();

  constructor(needs: StatusNeeds) {
    this.#needs = needs;
  }

  /** A container is attached, and its call is traced. */
  expect(containerId: string, { traceId, spanId, isSampled }: TraceContext): void {
    this.#expected.delete(containerId);
    this.#expected.set(containerId, { traceId, spanId, isSampled });
    for (const oldest of this.#expected.keys()) {
      if (this.#expected.size <= expectedMax) break;
      this.#expected.delete(oldest);
    }
  }

  note(containerId: string, what: string, { tookMs = 0, detail }: TimelineFacts): void {
    const call = isEnd(what) ? this.#expected.get(containerId) : undefined;
    if (call === undefined) return;
    this.#expected.delete(containerId);
    const { clock, exporter } = this.#needs;
    const nowMs = clock.wallMs();
    const span = new OpenSpan("network-status", newSpanId(clock), { nowMs: () => nowMs }, nowMs - tookMs);
    const isFailure = what !== "published";
    span.end(isFailure ? `${what}${detail === undefined ? "" : `: ${detail}`}` : undefined);
    const { traceId, spanId: parentSpanId } = call;
    exporter.add({ spans: [{ traceId, parentSpanId, traceState: "", ...span.finished() }], isFailure });
  }
}

/** `publishing` is a status that is tried again. */
function isEnd(what: string): boolean {
  return what === "published" || what.startsWith("status-");
}
