import type { Cancel, Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { backOffMs } from "../../kube/back-off.ts";
import type { TracesFacts } from "../../readiness/traces-rule.ts";
import type { MetricsRegistry } from "../metrics/metrics-registry.ts";
import type { Service } from "../service.ts";
import type { Collector, Delivery } from "./collector.ts";
import { otlpText } from "./otlp.ts";
import { TraceQueue, type QueuedTrace } from "./trace-queue.ts";

/** Several calls share a request, and none is sent while its runtime waits for the answer. */
const batchMs = 1_000;
/** About 200 KiB of JSON, which takes some milliseconds to write. */
const batchSpans = 400;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** An orderly stop does not wait longer for the last batch. */
const lastBatchMs = 2_000;

interface ExporterNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly collector: Pick<Collector, "send" | "close">;
  readonly nodeName: string;
  /** For the log. */
  readonly endpoint: string;
}

/** Sends traces to the collector, one batch at a time. A collector that is away costs a bounded queue and a try per minute. */
export class TraceExporter implements Service {
  readonly #needs: ExporterNeeds;
  readonly #queue: TraceQueue;
  readonly #counts = { sent: 0, full: 0, refused: 0, ended: 0 };
  #cancel: Cancel | undefined;
  #sending: Promise<void> | undefined;
  /** Traces of the batch that is being sent. */
  #underWay = 0;
  #failures = 0;
  #isEnding = false;
  /** Why the last batch was not taken, and since when none is; the log says it once. */
  #trouble: { readonly reason: string; readonly sinceMs: number } | undefined;

  constructor(needs: ExporterNeeds) {
    this.#needs = needs;
    this.#queue = new TraceQueue((count) => (this.#counts.full += count));
    registerTraces(needs.metrics, this.#counts, () => this.#queue.length);
  }

  add(trace: QueuedTrace): void {
    this.#queue.add(trace);
    this.#later(batchMs);
  }

  /** For `levee check node`. */
  facts(): TracesFacts {
    const { endpoint, clock } = this.#needs;
    const { sent, full, refused } = this.#counts;
    const forMs = this.#trouble === undefined ? 0 : clock.monotonicMs() - this.#trouble.sinceMs;
    return {
      endpoint,
      sent,
      dropped: full + refused,
      waiting: this.#queue.length,
      trouble: this.#trouble?.reason,
      forMs,
    };
  }

  async stop(): Promise<void> {
    this.#isEnding = true;
    this.#cancel?.();
    // A collector that was away a moment ago is not waited for.
    if (this.#failures === 0) await Promise.race([this.#sendLast(), this.#needs.clock.sleep(lastBatchMs)]);
    this.#counts.ended += this.#queue.length + this.#underWay;
    this.#needs.collector.close();
  }

  async #sendLast(): Promise<void> {
    await this.#sending;
    while (this.#queue.length > 0 && this.#failures === 0) await this.#send();
  }

  /** A timer or a batch that is under way leads to the next one. */
  #later(ms: number): void {
    if (this.#cancel !== undefined || this.#sending !== undefined || this.#isEnding) return;
    this.#cancel = this.#needs.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#sending = this.#send().then((pauseMs) => {
        this.#sending = undefined;
        if (this.#queue.length > 0) this.#later(pauseMs);
      });
    });
  }

  /** Sends one batch, and resolves to the pause before the next one. */
  async #send(): Promise<number> {
    const { collector, nodeName } = this.#needs;
    const batch = this.#queue.take(batchSpans);
    const spans = batch.flatMap((trace) => trace.spans);
    this.#underWay = batch.length;
    const delivery = await collector.send(otlpText(spans, nodeName));
    this.#underWay = 0;
    if (delivery.what === "later") return this.#postpone(batch, delivery);
    this.#settle(batch, delivery);
    return batchMs;
  }

  #postpone(batch: readonly QueuedTrace[], { afterMs, why }: Extract<Delivery, { what: "later" }>): number {
    this.#queue.putBack(batch);
    this.#failures += 1;
    this.#complain(why);
    const bounds = { firstMs: firstPauseMs, longestMs: longestPauseMs, afterMs };
    return Math.max(backOffMs(this.#needs.clock, this.#failures, bounds), firstPauseMs);
  }

  #settle(batch: readonly QueuedTrace[], delivery: Exclude<Delivery, { what: "later" }>): void {
    this.#failures = 0;
    if (delivery.what === "refused") {
      this.#counts.refused += batch.length;
      this.#complain(delivery.why);
      return;
    }
    this.#counts.sent += batch.length;
    if (delivery.rejectedSpans > 0) this.#complain(`it rejected ${delivery.rejectedSpans} spans: ${delivery.why}`);
    else this.#recovered();
  }

  #complain(reason: string): void {
    const { logger, endpoint, clock } = this.#needs;
    if (this.#trouble === undefined)
      logger.warn("The collector does not take traces; calls go on without", { tracesEndpoint: endpoint, reason });
    this.#trouble = { reason, sinceMs: this.#trouble?.sinceMs ?? clock.monotonicMs() };
  }

  #recovered(): void {
    if (this.#trouble === undefined) return;
    this.#trouble = undefined;
    const { full, refused } = this.#counts;
    this.#needs.logger.info("The collector takes traces again", { dropped: full + refused });
  }
}

interface TraceCounts {
  readonly sent: number;
  readonly full: number;
  readonly refused: number;
  readonly ended: number;
}

function registerTraces(metrics: MetricsRegistry, counts: TraceCounts, waiting: () => number): void {
  metrics.counted("levee_traces_sent_total", "Traces of calls that the collector took", () => counts.sent);
  metrics.counted("levee_traces_dropped_total", "Traces of calls that were not sent, by reason", () =>
    (["full", "refused", "ended"] as const).map((reason) => ({ labels: { reason }, value: counts[reason] })),
  );
  metrics.gauge("levee_traces_waiting", "Traces of calls that wait for the collector", waiting);
}
