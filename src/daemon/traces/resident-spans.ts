import type { PluginAttendant } from "../../hands/plugin-attendant.ts";
import type { RunOrder } from "../../wire/messages.ts";
import type { Outcome } from "../../wire/outcome.ts";
import type { TraceHouse } from "./call-trace.ts";
import { OpenSpan } from "./open-span.ts";
import { askedOf, pluginSpanName, usedBy } from "./plugin-attributes.ts";
import { argIn, newSpanId, traceIdOf, traceParentOf } from "./trace-context.ts";
import type { QueuedTrace } from "./trace-queue.ts";

interface ResidentNeeds {
  readonly house: TraceHouse;
  readonly isSampled: (traceId: string) => boolean;
  readonly add: (trace: QueuedTrace) => void;
}

interface PodRun {
  readonly span: OpenSpan;
  readonly traceId: string;
}

/**
 * Plugins that the resident hand runs for a pod: undoing what a lost call left, leaks, garbage. There is no call, so
 * each run is a span of the pod's own trace. The hand runs several plugins at once; the order says which one has ended.
 */
export class ResidentSpans implements PluginAttendant {
  readonly #needs: ResidentNeeds;
  readonly #running = new WeakMap<RunOrder, PodRun>();
  readonly #ended = new WeakMap<Outcome, PodRun>();

  constructor(needs: ResidentNeeds) {
    this.#needs = needs;
  }

  begin(order: RunOrder): RunOrder {
    const containerId = order.env["CNI_CONTAINERID"] ?? "";
    const args = order.env["CNI_ARGS"] ?? "";
    const uid = argIn(args, "K8S_POD_UID");
    const traceId = traceIdOf(uid ?? "") ?? traceIdOf(containerId);
    if (traceId === undefined) return order;
    const { clock } = this.#needs.house;
    const offsetMs = clock.wallMs() - clock.monotonicMs();
    const time = { nowMs: () => offsetMs + clock.monotonicMs() };
    const span = new OpenSpan(pluginSpanName(order), newSpanId(clock), time, time.nowMs());
    span.describe({
      ...askedOf(order),
      "container.id": containerId,
      "k8s.namespace.name": argIn(args, "K8S_POD_NAMESPACE"),
      "k8s.pod.name": argIn(args, "K8S_POD_NAME"),
      "k8s.pod.uid": uid,
      "levee.hand": "resident",
    });
    const isSampled = this.#needs.isSampled(traceId);
    const traced = { ...order, traceParent: traceParentOf({ traceId, spanId: span.spanId, isSampled }) };
    this.#running.set(traced, { span, traceId });
    return traced;
  }

  end(outcome: Outcome, order: RunOrder): void {
    const run = this.#running.get(order);
    if (run === undefined) return;
    run.span.describe(usedBy(outcome));
    run.span.end();
    this.#ended.set(outcome, run);
    this.#needs.house.onRan(outcome, run.span);
  }

  /** Everything about the run is known now. */
  settle(outcome: Outcome): void {
    const run = this.#ended.get(outcome);
    if (run === undefined) return;
    this.#ended.delete(outcome);
    const { traceId } = run;
    const span = { traceId, parentSpanId: "", traceState: "", ...run.span.finished() };
    const isFailure = span.failure !== undefined;
    if (isFailure || this.#needs.isSampled(traceId)) this.#needs.add({ spans: [span], isFailure });
  }
}
